package report
import ("testing";"path/filepath";"os";"strings";"bytes")
func TestTmp(t *testing.T) {
	fs,_ := filepath.Glob("/work/shared/reference/golden/*/out.json+")
	for _, f := range fs {
		n := filepath.Base(filepath.Dir(f))
		t.Run(n, func(t *testing.T){
			s := string(readFile(t,f))
			if i := strings.LastIndex(s,"\n{\n"); i >= 0 { s = s[i+1:] }
			if !strings.HasPrefix(s,"{") { t.Skip("no doc") }
			r := loadJSON(t, []byte(s))
			check(t, "json+", s, render(t, r, JSONPlus))
			d := "/tmp/rov/g/"+n; os.MkdirAll(d,0o755)
			nb,_ := os.ReadFile(filepath.Join(filepath.Dir(f),"out.normal"))
			if i := strings.LastIndex(string(nb), "\n\n"); false { _ = i }
			fillFromNormal(r, string(nb))
			for i := range r.Jobs { if r.Jobs[i].Members==0 { r.Jobs[i].Members=1 } }
			os.WriteFile(d+"/out.normal", []byte(render(t,r,Normal)), 0o644)
			var b bytes.Buffer; Write(&b, r, Options{Formats: []Format{JSONPlus}}); os.WriteFile(d+"/out.json+", b.Bytes(), 0o644)
			for v := 2; v <= 5; v++ { os.WriteFile(d+"/out.terse"+string(rune('0'+v)), []byte(renderVersion(t,r,v)), 0o644) }
		})
	}
}
