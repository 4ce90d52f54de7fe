package cli

import "fmt"

// usageError is a mistake on the command line: what is wrong, and on a second line what to do about it.
type usageError struct {
	text string
	hint string
}

func (e *usageError) Error() string { return e.text }

// Hint is printed under the error.
func (e *usageError) Hint() string { return e.hint }

func usagef(hint, format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...), hint: hint}
}
