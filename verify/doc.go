// Package verify makes and checks the contents of verified blocks: fio's header, the checksums behind it, patterns, and
// the files of the verify state.
//
// It owns what is on the medium. It must not know which blocks a job wrote, in what order they are read back, or what
// happens to a job whose data is bad: that is package run's.
package verify
