package job

import "slices"

// unknownOption explains an option that neither table has: whose it is, or what it resembles.
func (l *Loader) unknownOption(name string, j *Job) error {
	e := &UnknownOptionError{Name: name, Engine: j.IOEngine}
	for i := range l.Engines {
		decl := &l.Engines[i]
		if t, err := l.engineTable(decl); err == nil && t != nil && t.Lookup(name) != nil && decl != j.EngineDoc && !decl.External {
			e.Owners = append(e.Owners, decl.Name)
		}
	}
	var names []string
	for _, d := range l.table.All() {
		names = append(append(names, d.Name), d.Aliases...)
	}
	if j.EngineDoc != nil {
		if t, err := l.engineTable(j.EngineDoc); err == nil && t != nil {
			for _, d := range t.All() {
				names = append(append(names, d.Name), d.Aliases...)
			}
		}
	}
	e.Nearest = Nearest(name, names)
	return e
}

// Nearest is the candidate most like name, by edit distance, the first of equals; empty when none is like it.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if diff := len(c) - len(name); diff >= bestDistance || -diff >= bestDistance {
			continue
		}
		if d := editDistance(name, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{cost, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
