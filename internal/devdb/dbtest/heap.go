package dbtest

import (
	"runtime"
	"testing"
)

const (
	heapWarm  = 100
	heapCalls = 1000
	heapBytes = 100 // for each call; buffers that grow once, 40 KB, are less
)

// HeapStays fails the test if what calls leave in memory grows with their number. Tests that run beside it
// would show: it is for one that is not parallel.
func HeapStays(t testing.TB, call func(n int) error) {
	t.Helper()
	times := func(from, to int) {
		for n := from; n < to; n++ {
			if err := call(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	times(0, heapWarm)
	before := heap()
	times(heapWarm, heapWarm+heapCalls)
	if grown := heap() - before; grown > heapCalls*heapBytes {
		t.Errorf("%d bytes stay in memory after %d calls", grown, heapCalls)
	}
}

// heap is what is in use. The second collection takes what the first one moved out of pools.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far from 2^63
}
