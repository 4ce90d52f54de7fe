//go:build !race

package verify

const underRace = false
