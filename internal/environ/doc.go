// Package environ gathers what a reader needs to trust a number: the machine, the devices below a run's files and the
// file systems between.
//
// It owns which facts there are and where the kernel has them. It must not know what a job is or how facts are shown. What
// the kernel does not tell is left out, never guessed. Gathering reads a few dozen files, so it is done when nothing is
// being measured.
package environ
