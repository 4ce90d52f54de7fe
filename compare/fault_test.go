package compare

import (
	"strings"
	"testing"
)

// TestFaults reads reports with values of the wrong kind: the error says where, what was wanted and what is there.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{ "jobs" : [ { "jobname" : 5 } ] }`, "line 1: jobs.jobname: want a string, got a number"},
		{"a note\n{}\n{\n\"jobs\" : [ {\n\"jobname\" : \"a\",\n\"read\" : { \"iops\" : \"fast\" } } ] }", "line 6: jobs.read.iops: want a number, got a string"},
		{`{ "jobs" : [ { "error" : 1.5 } ] }`, "line 1: jobs.error: want a whole number, got 1.5"},
		{`{ "jobs" : [ { "write" : [] } ] }`, "line 1: jobs.write: want an object, got an array"},
		{`{ "jobs" : { } }`, "line 1: jobs: want an array, got an object"},
		{`{ "jobs" : true }`, "line 1: jobs: want an array, got true or false"},
		{`{ "jobs" : [ 5 ] }`, "line 1: jobs: want an object, got a number"},
		{`{ "jobs" : [ { "read" : { "bw" : 1e999 } } ] }`, "line 1: jobs.read.bw: 1e999 is out of range"},
		{`{ "jobs" : [ { "read" : { "clat_ns" : { "percentile" : { "99.0" : "x" } } } } ] }`, "line 1: jobs.read.clat_ns.percentile: want a number, got a string"},
		{"{ \"jobs\" : [\n{ \"a\" \"b\" } ] }", "line 2: no JSON: invalid character '\"' after object key"},
	} {
		_, err := Read("r.json", strings.NewReader(c.text))
		if want := "report r.json: " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, want)
		}
	}
}
