/* Prints sizes and offsets of the io_uring structures, for abi.golden:  cc -o abi abi.c && ./abi > abi.golden */
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/uio.h>

#define SIZE(go, c) printf("%s %zu\n", go, sizeof(c))
#define OFF(go, c, f) printf("%s %zu\n", go, offsetof(c, f))

int main(void)
{
	SIZE("SQE", struct io_uring_sqe);
	OFF("SQE.Opcode", struct io_uring_sqe, opcode);
	OFF("SQE.Flags", struct io_uring_sqe, flags);
	OFF("SQE.Ioprio", struct io_uring_sqe, ioprio);
	OFF("SQE.Fd", struct io_uring_sqe, fd);
	OFF("SQE.Off", struct io_uring_sqe, off);
	OFF("SQE.Addr", struct io_uring_sqe, addr);
	OFF("SQE.Len", struct io_uring_sqe, len);
	OFF("SQE.OpFlags", struct io_uring_sqe, rw_flags);
	OFF("SQE.UserData", struct io_uring_sqe, user_data);
	OFF("SQE.BufIndex", struct io_uring_sqe, buf_index);
	OFF("SQE.Personality", struct io_uring_sqe, personality);
	OFF("SQE.FileIndex", struct io_uring_sqe, file_index);
	OFF("SQE.Addr3", struct io_uring_sqe, addr3);
	SIZE("CQE", struct io_uring_cqe);
	OFF("CQE.UserData", struct io_uring_cqe, user_data);
	OFF("CQE.Res", struct io_uring_cqe, res);
	OFF("CQE.Flags", struct io_uring_cqe, flags);
	OFF("CQE32.Big", struct io_uring_cqe, big_cqe);
	SIZE("Params", struct io_uring_params);
	OFF("Params.SQEntries", struct io_uring_params, sq_entries);
	OFF("Params.CQEntries", struct io_uring_params, cq_entries);
	OFF("Params.Flags", struct io_uring_params, flags);
	OFF("Params.SQThreadCPU", struct io_uring_params, sq_thread_cpu);
	OFF("Params.SQThreadIdle", struct io_uring_params, sq_thread_idle);
	OFF("Params.Features", struct io_uring_params, features);
	OFF("Params.WQFd", struct io_uring_params, wq_fd);
	OFF("Params.SQOff", struct io_uring_params, sq_off);
	OFF("Params.CQOff", struct io_uring_params, cq_off);
	OFF("SQOffsets.Dropped", struct io_sqring_offsets, dropped);
	OFF("SQOffsets.Array", struct io_sqring_offsets, array);
	OFF("CQOffsets.Overflow", struct io_cqring_offsets, overflow);
	OFF("CQOffsets.CQEs", struct io_cqring_offsets, cqes);
	SIZE("Iovec", struct iovec);
	OFF("Iovec.Base", struct iovec, iov_base);
	OFF("Iovec.Len", struct iovec, iov_len);
	SIZE("Timespec", struct __kernel_timespec);
	SIZE("getEventsArg", struct io_uring_getevents_arg);
	OFF("getEventsArg.Sigmask", struct io_uring_getevents_arg, sigmask);
	OFF("getEventsArg.SigmaskSize", struct io_uring_getevents_arg, sigmask_sz);
	OFF("getEventsArg.Timeout", struct io_uring_getevents_arg, ts);
	SIZE("rsrcUpdate", struct io_uring_rsrc_update);
	OFF("rsrcUpdate.Data", struct io_uring_rsrc_update, data);
	SIZE("probeOp", struct io_uring_probe_op);
	OFF("probeOp.Flags", struct io_uring_probe_op, flags);
	OFF("probeTable.OpsLen", struct io_uring_probe, ops_len);
	OFF("probeTable.Ops", struct io_uring_probe, ops);
	return 0;
}
