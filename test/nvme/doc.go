// Package nvme runs fiord against the kernel's own NVMe driver, in a virtual machine with emulated drives.
//
// It owns the runner: fetching a kernel, building the guest's file system, the emulated devices, and reading back what
// the guest's steps did. Each test is a boot with drives of its own: those that work, those with zones, and those that
// fail. make test-nvme runs them; without FIORD_NVME=1 in the environment they are skipped, because a boot takes many
// seconds and needs qemu. FIORD_NVME_KERNEL names another kernel package than Debian's 6.12, FIO another fio than that
// of the PATH.
package nvme
