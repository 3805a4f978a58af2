"""Run the code your AI agent wrote: it can do exactly what you granted, and nothing else."""

from ._request import Grant, Language, Limits, RunOptions
from .approval import ApprovalHandler, ApprovalRequest, Approve, Approver, Consent, Decision, Deny
from .blocking import BlockingStream, Isolith
from .client import AsyncIsolith
from .errors import (
    ClientClosed,
    ConnectionFailed,
    ConnectionLost,
    DaemonDied,
    IsolithError,
    ProgramError,
    ProtocolError,
    RequestError,
    ToolDefinitionError,
)
from .outcome import Approval, CallRecord, Event, GrantCount, Outcome, Output, RunError, Skipped, ToolCall, Usage
from .stream import RunStream
from .tool import Tool, tool
from .typescript import declarations

__version__ = "0.1.0"

__all__ = [
    "Approval",
    "ApprovalHandler",
    "ApprovalRequest",
    "Approve",
    "Approver",
    "AsyncIsolith",
    "BlockingStream",
    "CallRecord",
    "ClientClosed",
    "ConnectionFailed",
    "ConnectionLost",
    "Consent",
    "DaemonDied",
    "Decision",
    "Deny",
    "Event",
    "Grant",
    "GrantCount",
    "Isolith",
    "IsolithError",
    "Language",
    "Limits",
    "Outcome",
    "Output",
    "ProgramError",
    "ProtocolError",
    "RequestError",
    "RunError",
    "RunOptions",
    "RunStream",
    "Skipped",
    "Tool",
    "ToolCall",
    "ToolDefinitionError",
    "Usage",
    "declarations",
    "tool",
]
