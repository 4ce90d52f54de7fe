package uringcmd

import (
	"fmt"
	"path/filepath"

	"fiord/engines/uringcmd/nvme"
)

// Drive is a namespace, and what the way to it takes, for a user of commands that is no job.
type Drive struct {
	Namespace   nvme.Namespace
	MaxTransfer uint64 // bytes of one command, by the drive and by the kernel's driver; 0: no limit known
	queue       string // its folder in sysfs; empty: unknown
}

// Inspect identifies the namespace whose character device is at path.
func Inspect(path string) (Drive, error) {
	d, err := linux.identify(path)
	if err != nil {
		return Drive{}, err
	}
	out := Drive{Namespace: d.ns, MaxTransfer: d.ctrl.MaxTransfer, queue: linux.queueOf(path)}
	if kib, ok := number(filepath.Join(out.queue, "max_hw_sectors_kb")); ok && out.queue != "" {
		if most := kib << 10; out.MaxTransfer == 0 || most < out.MaxTransfer {
			out.MaxTransfer = most
		}
	}
	return out, nil
}

// Pollable is nil when commands to the drive can be polled for, else the error tells why not and what to do.
func (d *Drive) Pollable() error {
	if d.queue == "" {
		return nil
	}
	return linux.pollable(d.queue)
}

// NotGeneric tells what to name instead of a file that is no character device and so takes no commands.
func NotGeneric(path string, block bool) error {
	if m := blockName.FindStringSubmatch(filepath.Base(path)); block && m != nil {
		return fmt.Errorf("%s is a block device: commands go to its character device /dev/ng%sn%s", path, m[1], m[2])
	}
	return fmt.Errorf("%s is not a character device: commands need that of an NVMe namespace, such as /dev/ng0n1", path)
}
