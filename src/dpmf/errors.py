"""Every error and warning that `dpmf` raises on purpose."""


class DpmfError(Exception):
    """Base of all errors that `dpmf` raises on purpose."""


class DataError(DpmfError, ValueError):
    """The data cannot be used as given; the message says where and what to do."""


class ConfigError(DpmfError, ValueError):
    """A model or a call was specified in a way that has no meaning."""


class SamplingError(DpmfError, RuntimeError):
    """A sampler cannot start or cannot go on."""


class WorkerError(DpmfError, RuntimeError):
    """The workers of an executor were lost, again and again."""


class FileError(DpmfError, OSError):
    """A file cannot be read or written; what was there is untouched."""


class UnreadableFile(FileError, DataError):
    """A file that was given as input is not there, or is not what it should be."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run whose checkpoint was saved; the message says how to go on."""


class DpmfWarning(UserWarning):
    """Something worth knowing that does not stop the work."""
