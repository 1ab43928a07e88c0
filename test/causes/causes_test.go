package causes

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/scenario"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The moments of looks.
const (
	during = "during"
	after  = "after"
)

// row is a fault.
type row struct {
	area, fault string
	// cause prepares the clusters, and returns the Installation with the fault.
	cause func(*stage) given
	// then brings a root whose first job has succeeded into the job that is looked at: a
	// change, or a deletion.
	then func(*stage)
	// waits are faults that keep a job waiting: they are looked at meanwhile, too. begun continues
	// when the job waits, before the look, or ends the job.
	waits bool
	begun func(*stage)
	// end ends a job that does not end by itself.
	end func(*stage)
	// silent are the surfaces that show nothing, because nothing is written.
	silent []string
	// onlyRoots says why there is no such fault below a root.
	onlyRoots string
	// names is what must be named; meanwhile takes its place while the job runs.
	names     names
	meanwhile *names
}

// catalogue are all rows.
func catalogue() []row {
	var all []row
	for _, rows := range [][]row{
		dataFlow(), blueprints(), components(), registries(), access(), objects(), readiness(),
		exports(), deletions(), helm(), kustomize(), trees(), targetSyncs(), dead(), several(),
	} {
		all = append(all, rows...)
	}
	return all
}

// TestCauses causes every fault, and looks.
func TestCauses(t *testing.T) {
	startServer(t)
	prepareClusters(t)
	for i, r := range catalogue() {
		for _, depth := range []int{0, 3} {
			if depth > 0 && r.onlyRoots != "" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%d", r.area, strings.ReplaceAll(r.fault, " ", "_"), depth), func(t *testing.T) {
				t.Parallel()
				play(t, r, i, depth)
			})
		}
	}
}

// play plays a row at one depth.
func play(t *testing.T, r row, at, depth int) {
	s := newStage(t, spaceOf(r, depth), depth)
	report := func(when string, wanted names, seen look) {
		s.keep(when, seen)
		verdict := wanted.judge(seen, s.space)
		results.add(result{area: r.area, fault: r.fault, at: at, depth: depth, when: when, verdict: verdict})
		if !verdict.full() {
			t.Errorf("%s: %s\n%s", when, verdict.missing(), seen)
		}
		if strings.Contains(seen.String(), canary) {
			t.Errorf("%s: a look shows a value that must not be read:\n%s", when, seen)
		}
	}
	s.root = env.Create(t, r.cause(s).installation(s.space, "shop", depth))
	before := ""
	if r.then != nil {
		s.root = env.WaitSucceeded(t, s.root)
		before = s.root.Status.JobID
		r.then(s)
	}
	if r.waits || r.begun != nil {
		s.awaitWait(r, before)
	}
	if r.waits {
		if s.ended(before) {
			t.Errorf("the job has ended before a look at it:\n%s", s.look())
		}
		wanted := r.names
		if r.meanwhile != nil {
			wanted = *r.meanwhile
		}
		report(during, wanted, s.bestLook(wanted, true, before))
	}
	if r.end != nil {
		r.end(s)
	}
	env.WaitFinished(t, s.root, before)
	report(after, r.names, s.bestLook(r.names, false, before))
}

// spaceOf is the namespace of a row.
func spaceOf(r row, depth int) string {
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(r.area+"-"+r.fault), "-")
	return fmt.Sprintf("%.50s-%d", name, depth)
}

// awaitWait returns when an object in the namespace reports that it waits or tries again, or waits
// for a deployer, or when the job has ended.
func (s *stage) awaitWait(r row, before string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), scenario.WaitLimit)
	defer cancel()
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		if s.waits() || s.ended(before) {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.Fatalf("nothing waits: %s", s.look())
		}
	}
	if r.begun != nil {
		r.begun(s)
	}
}

// ended reports whether a job after the given one has ended.
func (s *stage) ended(before string) bool {
	inst := &v1alpha1.Installation{}
	if err := env.Admin.Get(s.Context(), client.ObjectKeyFromObject(s.root), inst); err != nil {
		s.Fatal(err)
	}
	return inst.Status.JobID != before && inst.Status.JobID == inst.Status.JobIDFinished
}

// waits reports whether an Installation says that it waits or tries again, or that an item does, or
// has not been picked up.
func (s *stage) waits() bool {
	items := &v1alpha1.DeployItemList{}
	if err := env.Admin.List(s.Context(), items, client.InNamespace(s.space)); err != nil {
		s.Fatal(err)
	}
	for _, item := range items.Items {
		status := item.Status
		if status.JobID != status.JobIDFinished && (status.Phase == "" || status.LastError != nil || holds(status.Conditions)) {
			return true
		}
	}
	installations := &v1alpha1.InstallationList{}
	if err := env.Admin.List(s.Context(), installations, client.InNamespace(s.space)); err != nil {
		s.Fatal(err)
	}
	for _, inst := range installations.Items {
		status := inst.Status
		if status.JobID != status.JobIDFinished && (status.LastError != nil || holds(status.Conditions)) {
			return true
		}
	}
	return false
}

// holds reports whether conditions say that a job waits.
func holds(conditions []v1alpha1.Condition) bool {
	for _, condition := range conditions {
		if condition.Type == v1alpha1.ReconcilingCondition && condition.Reason == "Waiting" {
			return true
		}
	}
	return false
}

// How long a status may take until it is up to date: a parent shows what blocks its children after
// 5 seconds and then ever more rarely, or after 30 if an item was not picked up; events are written
// after the end of a job.
const (
	whileItRuns = 80 * time.Second
	atItsEnd    = 4 * time.Second
)

// bestLook looks until everything is named, or statuses are up to date for sure. A look
// at a job that has ended meanwhile does not count as one while it runs.
func (s *stage) bestLook(wanted names, running bool, before string) look {
	s.Helper()
	seen := s.look()
	limit := atItsEnd
	if running {
		limit = whileItRuns
	}
	for end := time.Now().Add(limit); !wanted.judge(seen, s.space).full() && time.Now().Before(end); {
		<-time.After(2 * time.Second)
		next := s.look()
		if running && s.ended(before) {
			return seen
		}
		seen = next
	}
	return seen
}
