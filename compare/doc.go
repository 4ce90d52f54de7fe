// Package compare reads JSON reports of fio or fiord and says how the results of one side differ from the other's.
//
// It owns the reading of reports, the matching of jobs, the changes and the verdicts, and how they are shown. It must not
// know how a job runs; it opens no file itself.
package compare
