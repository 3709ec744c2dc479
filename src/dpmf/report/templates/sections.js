// The link of the section that is being read is marked, and in sight.
const sections = (nav) => {
  const links = [...nav.querySelectorAll("a")], list = nav.querySelector("ul");
  const mark = () => {
    const passed = links.filter((one) => byId(one.hash.slice(1)).getBoundingClientRect().top < innerHeight / 3);
    const ended = scrollY > 0 && innerHeight + scrollY > document.documentElement.scrollHeight - 4; // short ones never get to the top
    const here = ended ? links.at(-1) : passed.at(-1) ?? links[0];
    for (const one of links) {
      if (one !== here) one.removeAttribute("aria-current");
      else if (!one.hasAttribute("aria-current")) {
        one.setAttribute("aria-current", "true");
        list.scrollLeft = one.offsetLeft - list.offsetLeft - 20;
      }
    }
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
};
