package sys

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// TestMemPolicy sets each policy for this machine's first node and asks the kernel what it has.
func TestMemPolicy(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread ends with the test, and its policy with it
	if _, _, err := MemPolicyNow(); errors.Is(err, syscall.ENOSYS) {
		t.Skip("this kernel has no NUMA policies")
	}
	for _, c := range []struct {
		policy MemPolicy
		nodes  []int
	}{
		{MemPreferred, []int{0}}, {MemBind, []int{0}}, {MemInterleave, []int{0}}, {MemLocal, nil}, {MemDefault, nil},
	} {
		if err := SetMemPolicy(c.policy, c.nodes); err != nil {
			t.Errorf("policy %d, nodes %v: %v", c.policy, c.nodes, err)
			continue
		}
		policy, nodes, err := MemPolicyNow()
		if err != nil || policy != c.policy || !slices.Equal(nodes, c.nodes) {
			t.Errorf("policy %d, nodes %v, %v; want %d, %v", policy, nodes, err, c.policy, c.nodes)
		}
	}
	for _, nodes := range [][]int{{-1}, {maxNode}, {maxNode - 1}, nil} {
		if err := SetMemPolicy(MemBind, nodes); err == nil {
			t.Errorf("bind to nodes %v is accepted", nodes)
		}
	}
}
