// Package sys asks Linux for what the rest of fiord needs and the standard library does not offer: memory outside the Go
// heap, CPU affinity, priorities and credentials of one thread, and facts about block devices.
//
// It owns the system calls and their constants. It must not know jobs, engines or options: it takes plain numbers.
// Functions that say "this thread" change the calling thread alone, so the caller must hold it with
// runtime.LockOSThread, and must never unlock it when credentials were changed.
package sys
