package published

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// wantProcesses looks from outside at the processes of the pods: they run the program of the
// release, as the user of the chart, without capabilities, and with a root that cannot be written.
func wantProcesses(t *testing.T, count int) {
	t.Helper()
	program, err := os.ReadFile(unpacked(t, "landscaper"))
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, component := range started.Components {
		if !strings.HasPrefix(component.Name, "cluster/landscaper-") || component.State != "running" {
			continue
		}
		found++
		read := func(name string) []byte {
			content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", component.PID, name))
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
		if !bytes.Equal(read("exe"), program) {
			t.Errorf("%s runs another program than that of the release", component.Name)
		}
		if users := strings.Fields(string(read("uid_map"))); len(users) != 3 || users[0] != "65532" || users[2] != "1" {
			t.Errorf("%s has the users %q", component.Name, users)
		}
		if status := string(read("status")); !strings.Contains(status, "CapEff:\t0000000000000000\n") || !strings.Contains(status, "CapPrm:\t0000000000000000\n") || !strings.Contains(status, "NoNewPrivs:\t1\n") {
			t.Errorf("%s has privileges:\n%s", component.Name, status)
		}
		if options := rootOptions(string(read("mountinfo"))); !strings.HasPrefix(options, "ro") {
			t.Errorf("%s has its root mounted with %q", component.Name, options)
		}
	}
	if found != count {
		t.Errorf("%d processes run, not %d", found, count)
	}
}

// rootOptions are the options of the mount at /, of the lines of mountinfo: its fifth field is the
// place, and its sixth the options. The last mount at a place is the one that is seen.
func rootOptions(mounts string) string {
	options := ""
	for line := range strings.Lines(mounts) {
		if fields := strings.Fields(line); len(fields) > 5 && fields[4] == "/" {
			options = fields[5]
		}
	}
	return options
}
