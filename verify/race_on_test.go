//go:build race

package verify

const underRace = true // the detector makes code allocate that does not otherwise
