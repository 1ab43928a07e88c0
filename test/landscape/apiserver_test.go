package landscape

import (
	"strings"
	"testing"
	"time"
)

// TestReadWork: only our kinds count, and all resources and verbs of them.
func TestReadWork(t *testing.T) {
	read := func(text string) Work {
		t.Helper()
		work, err := readWork(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return work
	}
	const text = `# HELP process_cpu_seconds_total Total user and system CPU time.
process_cpu_seconds_total 2.5
apiserver_request_body_size_bytes_sum{group="landscaper.gardener.cloud",resource="installations",verb="create"} 100
apiserver_request_body_size_bytes_sum{group="landscaper.gardener.cloud",resource="executions",verb="update"} 20
apiserver_request_body_size_bytes_sum{group="",resource="secrets",verb="create"} 7
apiserver_request_body_size_bytes_bucket{group="landscaper.gardener.cloud",resource="executions",verb="update",le="+Inf"} 9
apiserver_watch_events_sizes_sum{group="landscaper.gardener.cloud",resource="targets",version="v1alpha1"} 300
apiserver_admission_controller_admission_duration_seconds_sum{name="ValidatingAdmissionPolicy",operation="CREATE",rejected="false",type="validate"} 0.5
apiserver_admission_controller_admission_duration_seconds_sum{name="LimitRanger",operation="CREATE",rejected="false",type="validate"} 4
`
	work := read(text)
	if want := (Work{CPU: 2500 * time.Millisecond, Written: 120, Sent: 300, Reviewing: 500 * time.Millisecond}); work != want {
		t.Errorf("%+v, want %+v", work, want)
	}
	if since := work.Minus(read("process_cpu_seconds_total 1\n")); since.CPU != 1500*time.Millisecond || since.Sent != 300 {
		t.Errorf("since then %+v", since)
	}
	if _, err := readWork(strings.NewReader("process_cpu_seconds_total many\n")); err == nil {
		t.Error("a value that is not a number was read")
	}
}

// TestBudgets: what is spent is compared number by number.
func TestBudgets(t *testing.T) {
	limit := Smallest.Plus(Item.Times(2))
	if want := (Budget{Smallest.Writes + 8, Smallest.Events, Smallest.Reads}); limit != want {
		t.Errorf("two further items: %+v, want %+v", limit, want)
	}
	for _, test := range []struct {
		reason string
		spent  Budget
		want   bool
	}{
		{"all of it", limit, true},
		{"a write too much", limit.Plus(Budget{Writes: 1}), false},
		{"an event too much", limit.Plus(Budget{Events: 1}), false},
		{"a read too much, although no write", Budget{Reads: limit.Reads + 1}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := limit.Keeps(test.spent); got != test.want {
				t.Errorf("%+v of %+v: %t", test.spent, limit, got)
			}
		})
	}
}
