"""What can go wrong besides a program's own failure, which is an outcome and no exception."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .outcome import Outcome


class IsolithError(Exception):
    """The base of all exceptions here: a stable code, a message for people, and often a hint what to do."""

    def __init__(self, message: str, *, code: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.message} [{self.code}]"
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        # Constructors differ; what was said does not. This makes errors cross processes, and be copied.
        return _rebuild, (type(self), self.args, self.__dict__)


class ProgramError(IsolithError):
    """A program failed, and its value was wanted. Raised by `Outcome.value_or_raise`, never by a run itself."""

    def __init__(self, outcome: Outcome) -> None:
        error = outcome.error
        if error is None:
            message, code, hint = f"the program has no value: it is {outcome.status}", outcome.status, None
        else:
            where = f" (line {error.line}, column {error.column})" if error.line is not None else ""
            message, code, hint = f"{error.name}: {error.message}{where}", error.code or error.kind, error.hint
        super().__init__(message, code=code, hint=hint)
        self.outcome = outcome
        self.error = error


class RequestError(IsolithError):
    """The server refused what was asked: a wrong grant, an unknown run, a missing key, too much at once."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str | None = None,
        field: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.field = field
        """Which field of the request is wrong, where the server says so."""
        self.status = status
        """The HTTP status, where the answer had one."""
        self.retry_after = retry_after
        """How many seconds later it may be asked again, where that would help."""

    @classmethod
    def from_wire(cls, error: Any, *, status: int | None = None) -> RequestError:
        """Reads `{"code", "message", "hint"?, "field"?, "retry_after_ms"?}`, and does not insist on any of it."""
        fields: dict[str, Any] = error if isinstance(error, dict) else {"message": str(error)}
        after_ms = fields.get("retry_after_ms")
        return cls(
            str(fields.get("message", "the request was refused")),
            code=str(fields.get("code", "request")),
            hint=fields.get("hint"),
            field=fields.get("field"),
            status=status,
            retry_after=after_ms / 1000 if isinstance(after_ms, (int, float)) else None,
        )


class ConnectionFailed(IsolithError, ConnectionError):
    """The server cannot be reached, or the local daemon cannot be started. Nothing was run."""


class ConnectionLost(IsolithError, ConnectionError):
    """The connection broke while a run was going on, and could not be taken up again. The run may go on without us."""


class DaemonDied(ConnectionLost):
    """The local daemon ended while a run was going on. The next run starts a new one."""

    def __init__(self, message: str, *, exit_code: int | None, hint: str | None = None) -> None:
        super().__init__(message, code="daemon.died", hint=hint)
        self.exit_code = exit_code


class ProtocolError(ConnectionLost):
    """The other side said something that is not of the protocol."""

    def __init__(self, message: str) -> None:
        hint = "check that client and server are of versions that fit"
        super().__init__(message, code="connection.protocol", hint=hint)


class ClientClosed(IsolithError):
    """The client was closed, or is used where it cannot work."""


class ToolDefinitionError(IsolithError, TypeError):
    """A function that cannot be a tool: its name or a type hint has no counterpart in a program."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, code="tool.definition", hint=hint)


def _rebuild(kind: type[IsolithError], args: tuple[Any, ...], fields: dict[str, Any]) -> IsolithError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error
