package console

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/history"
	"go.landscaper.dev/internal/landscape/inspect"
)

// compared is a landscape whose root has had three jobs, of which the last one used other imports than the
// one before; in it, the network failed, the database took longer, and there was no web before.
func compared() *state {
	started := func(second int64) *metav1.Time {
		at := metav1.Unix(second, 0)
		return &at
	}
	prints := func(value string) []v1alpha1.ImportFingerprint {
		return []v1alpha1.ImportFingerprint{{Name: "host", Fingerprint: "h"}, {Name: "size", Fingerprint: value}}
	}
	running := func(seconds int) *v1alpha1.Duration {
		return v1alpha1.NewDuration(time.Duration(seconds) * time.Second)
	}
	return stateOf(func(snapshot *inspect.Snapshot) {
		for _, inst := range snapshot.Installations {
			switch inst.Name {
			case "root":
				inst.Status.History = []v1alpha1.JobRecord{
					{JobID: "3", Phase: "Failed", Generation: 2, Component: "example.org/shop:1.2.0", ImportsHash: "x", Imports: prints("1"), Start: started(300)},
					{JobID: "2", Phase: "Succeeded", Generation: 1, Component: "example.org/shop:1.1.0", ImportsHash: "y", Imports: prints("2"), Start: started(200)},
					{JobID: "1", Phase: "Succeeded", Generation: 1, ImportsHash: "x", Start: started(100)},
				}
			case "root-network":
				inst.Status.History = []v1alpha1.JobRecord{{JobID: "3", Phase: "Failed", Reason: "Apply"}, {JobID: "2", Phase: "Succeeded", Running: running(3)}}
			case "root-database":
				inst.Status.History = []v1alpha1.JobRecord{{JobID: "3", Phase: "Succeeded", Running: running(90), Queued: running(10)}, {JobID: "2", Phase: "Succeeded", Running: running(60)}}
			case "root-web":
				inst.Status.History = []v1alpha1.JobRecord{{JobID: "3", Phase: "Succeeded"}}
			}
		}
	})
}

func TestCompare(t *testing.T) {
	tests := []struct {
		reason, one, other string
		earlier, later     string
		imports            []history.ComparedImport
	}{
		{"the last two by default", "", "", "2", "3", []history.ComparedImport{{Name: "host", Earlier: "h", Later: "h"}, {Name: "size", Earlier: "2", Later: "1"}}},
		{"a job and the one before", "2", "", "1", "2", []history.ComparedImport{{Name: "host", Earlier: "h", Later: "h"}, {Name: "size", Earlier: "1", Later: "2"}}},
		{"the oldest one has none before", "1", "", "", "1", nil},
		{"one that is not recorded any more", "0", "", "", "", nil},
		{"two of an address, in any order", "3", "1", "1", "3", []history.ComparedImport{{Name: "host", Earlier: "h", Later: "h"}, {Name: "size", Earlier: "1", Later: "1"}}},
		{"jobs with the same imports share a list", "1", "2", "1", "2", []history.ComparedImport{{Name: "host", Earlier: "h", Later: "h"}, {Name: "size", Earlier: "1", Later: "2"}}},
		{"the first one is not recorded any more", "0", "3", "", "3", nil},
		{"the second one is not recorded any more", "3", "0", "3", "", nil},
		{"neither is", "a", "b", "", "", nil},
		{"a job and itself", "3", "3", "3", "", nil},
	}
	id := func(job *history.Job) string {
		if job == nil {
			return ""
		}
		return job.JobID
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			view := compared().compare("shop", "root", test.one, test.other)
			if id(view.Earlier) != test.earlier || id(view.Later) != test.later || len(view.Jobs) != 3 {
				t.Errorf("%+v and %+v of %d", view.Earlier, view.Later, len(view.Jobs))
			}
			if diff := cmp.Diff(test.imports, view.Imports); diff != "" {
				t.Error(diff)
			}
		})
	}
	if view := compared().compare("other", "root", "", ""); !view.Missing || view.Jobs != nil {
		t.Errorf("an Installation of another namespace: %+v", view)
	}
	if view := compared().compare("shop", "done", "", ""); view.Missing || view.Earlier != nil || view.Later != nil {
		t.Errorf("an Installation without a history: %+v", view)
	}
}

// TestCompareParts: what differs comes first, then what has taken longer or shorter.
func TestCompareParts(t *testing.T) {
	var got []string
	for _, part := range compared().compare("shop", "root", "2", "3").Parts {
		took := "-"
		if part.Later != nil && part.Later.Took != nil {
			took = part.Later.Took.Duration.String()
		}
		got = append(got, part.Title+" "+took+" "+strings.Join(part.Differs, ","))
	}
	if diff := cmp.Diff([]string{"network - phase,reason", "web - phase", "database 1m40s "}, got); diff != "" {
		t.Error(diff)
	}
	// What was in neither of them is left out.
	if parts := compared().compare("shop", "root", "1", "2").Parts; len(parts) != 2 {
		t.Errorf("%+v", parts)
	}
}
