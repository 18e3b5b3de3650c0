"""The accounts of the cards of a session's nodes, and what moves of tasks change in them.

A process keeps its accounts from session to session. Of a process that is not known since its
start they are rebuilt, with what the annotations of the pods on the nodes say.

Source: pkg/scheduler/api/node_info.go.
"""

from __future__ import annotations

from ....model.node import NodeInfo
from ....model.panic import Panic
from ....model.session_tables import TaskStatus
from ....volcano.session.devices import SharedDevices, VirtualGpuUse
from ...framework.session import Session
from .accounts import CardAccount
from .gpu_share import SharedGpus
from .memory_sharing import MODELESS, NO_CONFIG, DeviceMemory, counting, having_none
from .vgpu import Sharing, VirtualGpus

_TAKING = frozenset({SharedDevices.LATE, SharedDevices.REFUSALS_HEEDED})


class Ledger:
    """The accounts of one session.

    :ivar accounts: by row of the node.
    :ivar takes: nodes without devices take pods that request some.
    :ivar heeds: a pod is not placed if its part is not free after all.
    :ivar returns: virtual GPUs that are taken back are free at once.
    :ivar without: the statuses in which pods have nothing of a node's devices.
    """

    def __init__(
        self, ssn: Session, memory: DeviceMemory, devices: SharedDevices, sharing: Sharing
    ) -> None:
        self._ssn = ssn
        self._memory = memory
        self._devices = devices
        self._sharing = sharing
        self.accounts: dict[int, CardAccount] = {}
        self.takes = devices in _TAKING
        self.heeds = devices is SharedDevices.REFUSALS_HEEDED
        self.returns = sharing.use is VirtualGpuUse.BY_POLICY
        self.without = having_none(devices)
        self._counted: set[int] = set()
        """Tasks that were added to the cards of their nodes in this session."""

    def open(self, *, was_on: bool) -> None:
        """Make the accounts, or go on with those that the process keeps.

        Where refusals are heeded, a session has copies: the next one knows nothing of its plans.

        :param was_on: the process counted devices before this session.
        """
        for row, info in enumerate(self._ssn.nodes.info):
            if info.node is None:
                continue
            if not self._ssn.process.from_start:
                self.accounts[row] = self._fresh(info)
                continue
            account = self._kept(info, was_on=was_on)
            self.accounts[row] = account.clone() if self.heeds else account

    def _fresh(self, info: NodeInfo) -> CardAccount:
        """Return a node's cards, without pods."""
        ssn, memory = self._ssn, self._memory
        account = CardAccount(info.devices, len(info.devices.changes))
        assert info.node is not None
        modes = self._devices not in MODELESS
        if memory.sharing or memory.number:
            account.shared = SharedGpus.of(info.node, whole=modes)
        if memory.virtual:
            account.virtual = VirtualGpus.of(
                info.node,
                ssn.process.external.device_config or NO_CONFIG,
                ssn.now,
                handshake=ssn.behaviours.virtual_gpus_by_handshake,
                modes=modes,
                sharing=self._sharing,
            )
        return account

    def _kept(self, info: NodeInfo, *, was_on: bool) -> CardAccount:
        """Return a node's account as the process keeps it.

        Up to v1.12 devices count from the start of the process; in v1.13 what pods have of shared
        cards, and later all devices, from updates after the first session with the plugin on.
        """
        memory = self._memory
        account = memory.accounts.get(info.name)
        if account is None or account.log is not info.devices:
            if was_on or not self.takes:
                account = self._fresh(info)
            else:
                account = CardAccount(info.devices, len(info.devices.changes), known=False)
            memory.accounts[info.name] = account
            if account.known and (was_on or not self._comes_late(account)):
                account.seen = 0
        self._count(account, info.name)
        return account

    def _comes_late(self, account: CardAccount) -> bool:
        """Return whether what pods have counts from the first session with the plugin on."""
        return self._devices is SharedDevices.PODS_LATE and account.virtual is None

    def _count(self, account: CardAccount, node: str) -> None:
        """Count the pods that came and left since the account was last looked at."""
        changes = account.log.changes
        while account.seen < len(changes):
            change = changes[account.seen]
            account.seen += 1
            if change.status in self.without:
                continue
            try:
                if change.added:
                    account.add(change.pod)
                else:
                    account.sub(change.pod)
            except Panic as panic:
                raise panic.while_it(counting(change.pod, node)) from None

    def shared(self, row: int) -> SharedGpus | None:
        """Return the cards of a node that pods share by memory or whole, if it has some."""
        account = self.accounts.get(row)
        return None if account is None else account.shared

    def virtual(self, row: int) -> VirtualGpus | None:
        """Return the cards of a node of which pods get virtual GPUs, if it has some."""
        account = self.accounts.get(row)
        return None if account is None else account.virtual

    def catch_up(self, row: int) -> None:
        """Count what the cache did with a node's pods in this session, unless it has copies."""
        if row in self.accounts and not self.heeds:
            self._count(self.accounts[row], self._ssn.nodes.info[row].name)

    def enter(self, task: int, node: int) -> None:
        """Count what a task's annotations say when it is put on a node, or its eviction is undone.

        Where releases keep what they took back, the latter takes it back once more.

        Source: api/node_info.go AddTask, UpdateTask.
        """
        status, pod = self._ssn.tasks.status.item(task), self._ssn.tasks.info[task].pod
        account = self.accounts.get(node)
        if account is None or status == TaskStatus.PIPELINED:
            return
        if status == TaskStatus.ALLOCATED:
            self._counted.add(task)
        elif not self.heeds:
            account.sub(pod, virtual=not self.returns)
        account.add(pod, virtual=not self.returns)

    def exit(self, task: int, node: int) -> None:
        """Count it out when the task leaves the node, or is evicted.

        Up to v1.14 an evicted task then counts again.

        Source: api/node_info.go RemoveTask, UpdateTask.
        """
        pod, account = self._ssn.tasks.info[task].pod, self.accounts.get(node)
        if account is None:
            return
        evicted = self._ssn.tasks.status.item(task) == TaskStatus.RELEASING
        if evicted or task in self._counted:
            account.sub(pod, virtual=not self.returns)
        self._counted.discard(task)
        if evicted and not self.heeds:
            account.add(pod, virtual=not self.returns)

    def leave(self, task: int, node: int) -> None:
        """Count out what a simulated victim has.

        The original copies the node, but not its cards: unless it comes back, it stays counted out.

        Source: actions/preempt.go SelectVictimsOnNode; api/node_info.go CloneOthers.
        """
        if node in self.accounts:
            self.accounts[node].sub(self._ssn.tasks.info[task].pod)

    def come_back(self, task: int, node: int) -> None:
        """Count it again if the simulation spares it."""
        if node in self.accounts and not self._ssn.registry.undoing:
            self.accounts[node].add(self._ssn.tasks.info[task].pod)
