"""Disks for the data folder that can be full and can crash.

A power cut requires a file system that loses unsynced data. dm-flakey and dm-log-writes provide that, but many kernels,
above all those of small virtual machines, lack the device mapper. Therefore ext4 itself is crashed: `EXT4_IOC_SHUTDOWN`
with `NOLOGFLUSH` stops a mounted file system at once, keeps its journal as it is on disk and loses everything in
memory; mounting it again replays the journal, as after a real power cut. The image is a sparse file on a loop device.
This does not simulate disks that lose or reorder confirmed writes.

- `Image`: ext4 on a loop device, for root with the right to mount; can be full and can crash.
- `Memory`: tmpfs of a fixed size, for root without loop devices; can be full.
- `Folder`: a plain folder for other users; supports neither.
"""

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXT4_IOC_SHUTDOWN = 0x8004587D
"""`_IOR('X', 125, __u32)` of Linux's fs/ext4/ext4.h."""
NOLOGFLUSH = struct.pack("I", 2)

SIZE_BYTES = 6 << 30
"""Size of the file system; the image is sparse. The database's log alone may take 2 GB."""
COMMIT_SECONDS = 60
"""Seconds that ext4 may delay writes without a sync, instead of 5, so that missing syncs show up."""
FILLER = "filler"
PATIENCE_SECONDS = 30.0


class Folder:
    """A plain folder at `path`; `say` describes it."""

    can_fill = False
    can_crash = False
    say = "a plain folder: no disk is filled and no power is cut, which needs root who may mount"

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> None:
        """Create the disk."""
        self.path.mkdir(parents=True)

    def close(self) -> None:
        """Remove the disk with its contents."""
        shutil.rmtree(self.path, ignore_errors=True)

    def fill(self) -> int:
        """Fill the disk completely; return the bytes written."""
        free = shutil.disk_usage(self.path).free
        descriptor = os.open(self.path / FILLER, os.O_CREAT | os.O_WRONLY)
        try:
            os.posix_fallocate(descriptor, 0, free)
        except OSError:  # another process took some of it
            _write_until_full(descriptor)
        finally:
            os.close(descriptor)
        return free

    def free(self) -> None:
        """Release the space taken by `fill`."""
        (self.path / FILLER).unlink(missing_ok=True)

    def crash(self) -> None:
        """Lose all unsynced data; reads and writes fail until `revive`."""
        raise NotImplementedError

    def revive(self) -> None:
        """Mount the disk again once no process has open files there."""
        raise NotImplementedError


class Memory(Folder):
    """A tmpfs of fixed size."""

    can_fill = True
    say = "tmpfs: no power is cut, which needs ext4 on a loop device"

    def open(self) -> None:
        super().open()
        _run("mount", "-t", "tmpfs", "-o", f"size={SIZE_BYTES},mode=755", "tmpfs", str(self.path))

    def close(self) -> None:
        _unmount(self.path)
        super().close()


class Image(Memory):
    """An ext4 file system in a sparse file on a loop device."""

    can_crash = True
    say = "ext4 on a loop device"

    @property
    def _image(self) -> Path:
        return self.path.with_suffix(".img")

    def open(self) -> None:
        self.path.mkdir(parents=True)
        with self._image.open("wb") as file:
            file.truncate(SIZE_BYTES)
        _run("mkfs.ext4", "-q", "-F", "-m", "0", str(self._image))
        self._mount()

    def close(self) -> None:
        super().close()
        self._image.unlink(missing_ok=True)

    def crash(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, NOLOGFLUSH)
        finally:
            os.close(descriptor)

    def revive(self) -> None:
        _unmount(self.path)
        self._mount()

    def _mount(self) -> None:
        _run("mount", "-o", f"loop,commit={COMMIT_SECONDS}", str(self._image), str(self.path))


def _write_until_full(descriptor: int) -> None:
    try:
        while os.write(descriptor, bytes(1 << 16)):
            pass
    except OSError:
        return


@contextmanager
def best(path: Path) -> Iterator[Folder]:
    """Yield the most capable disk of this machine at `path`, and remove it at the end."""
    kinds = [Image, Memory] if sys.platform == "linux" and os.geteuid() == 0 else []
    for kind in (*kinds, Folder):
        disk = kind(path)
        try:
            disk.open()
        except (OSError, subprocess.CalledProcessError):
            disk.close()
            continue
        try:
            yield disk
        finally:
            disk.close()
        return


def _unmount(path: Path) -> None:
    """Unmount as soon as no process has open files there."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while path.is_mount():
        try:
            _run("umount", str(path))
        except subprocess.CalledProcessError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
