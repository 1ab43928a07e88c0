package exactness

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

var (
	count   = flag.Int("changes", 30, "how many changes are made")
	seed    = flag.Uint64("seed", 0, "seed of the changes; 0 takes one of the time")
	wide    = flag.Int("side-by-side", 4, "how many landscapes there are at the same time")
	explain = flag.Bool("explain", false, "show the plans that are not exact, and what the jobs have changed")
)

// perLandscape is how many changes a landscape gets one after the other.
const perLandscape = 10

var env = &scenario.World{}

func TestMain(m *testing.M) {
	flag.Parse()
	ctrllog.SetLogger(logr.Discard())
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	os.Exit(env.Main(m, lab.Options{Clusters: []string{"edge"}}))
}

// stage is a landscape on the clusters.
type stage struct {
	*World
	t       *testing.T
	targets map[string]client.WithWatch
	score   *Score
	// deletions are those at the end.
	deletions Deletions
}

// TestPlansAreExact makes random changes, one or two at a time, asks for a plan, runs the
// job, and compares: what the plan names is what changes, and nothing else. At the end the
// same is done with "delete --dry-run" and the deletion of all roots.
func TestPlansAreExact(t *testing.T) {
	t.Logf("repeat with -seed %d -changes %d", *seed, *count)
	scenario.StartServer(t, env.ServerKubeconfig)
	edge, err := landscape.Connect(env.Lab.Clusters["edge"].Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	total, lock, slots := NewScore(), &sync.Mutex{}, make(chan struct{}, *wide)
	var deletions Deletions
	t.Run("landscapes", func(t *testing.T) {
		for number := range (*count + perLandscape - 1) / perLandscape {
			t.Run(fmt.Sprint(number), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				s := newStage(t, uint64(number), edge)
				s.play(min(perLandscape, *count-number*perLandscape))
				s.remove(func(string) {})
				lock.Lock()
				defer lock.Unlock()
				total.Add(s.score)
				deletions.Add(s.deletions)
			})
		}
	})
	var table bytes.Buffer
	total.Print(&table)
	t.Logf("seed %d\n%s%s", *seed, table.String(), deletions)
	if total.Wrong+total.Missed > 0 {
		t.Errorf("plans are not exact: %d wrong, %d missed", total.Wrong, total.Missed)
	}
	if deletions.Wrong+deletions.Missed > 0 {
		t.Errorf("previews of deletions are not exact: %d wrong, %d missed", deletions.Wrong, deletions.Missed)
	}
}

func newStage(t *testing.T, number uint64, edge client.WithWatch) *stage {
	t.Helper()
	space := env.Namespace(t)
	if err := edge.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}}); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := os.ReadFile(env.Lab.Clusters["edge"].Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	env.CreateTarget(t, space, "edge", string(kubeconfig))
	return &stage{
		World: NewWorld(space, rand.New(rand.NewPCG(*seed, number))), t: t, score: NewScore(),
		targets: map[string]client.WithWatch{"host": env.Workload, "edge": edge},
	}
}

// play lets the roots have their first jobs and then makes changes. The first jobs count
// as changes, too.
func (s *stage) play(changes int) {
	s.store()
	s.job(s.root("base"), "first job", nil)
	for range changes - 1 {
		root := s.Roots[0]
		if s.rand.IntN(4) == 0 {
			root, _ = oneOf(s.rand, s.Roots)
		}
		before, live := s.owned(), []Live{}
		did := s.Change(root, &live)
		if s.rand.IntN(3) == 0 {
			did += " and " + s.Change(root, &live)
		}
		s.store()
		s.disturb(live)
		s.job(root, did, before)
	}
}

func (s *stage) owned() map[Key][]string {
	owners := map[Key][]string{}
	for _, root := range s.Roots {
		root.owners(s.Space, owners)
	}
	return owners
}

// job plans a job, runs it, and compares.
func (s *stage) job(root *Root, did string, before map[Key][]string) {
	s.t.Helper()
	owners := s.owned()
	moved := movedFrom(before, owners)
	for key, paths := range before {
		owners[key] = append(owners[key], paths...)
	}
	from := s.look()
	raw := s.plan(root.Name)
	plan, err := PlanOf(raw, clusters())
	if err != nil {
		s.t.Errorf("%s: %s: %v\n%s", s.Space, did, err, raw)
		return
	}
	if changed := Changes(from, s.look(), nothingMoves); len(changed) > 0 {
		s.t.Errorf("%s: %s: the plan has changed %v", s.Space, did, changed)
	}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: s.Space, Name: root.Name}}
	last := env.Installation(s.t, inst).Status.JobID
	env.Request(s.t, inst, v1alpha1.ReconcileOperation)
	env.WaitFinished(s.t, inst, last)
	if failed := s.quiet(); failed != "" {
		s.score.Failed++
		did += " (failed: " + failed + ")"
	}
	to := s.look()
	complaints := s.score.Compare(root.Name, plan, Changes(from, to, moved), owners)
	if len(complaints) > 0 {
		s.t.Logf("%s: job of %s after %s:\n    %s", s.Space, root.Name, did, strings.Join(complaints, "\n    "))
		if *explain {
			s.t.Logf("%s\n%s", raw, differences(from, to, complaints))
		}
	}
}

// differences are those of the objects that complaints name.
func differences(before, after Snapshot, complaints []string) string {
	var found strings.Builder
	for key, object := range before {
		if now := after[key]; now != nil && strings.Contains(strings.Join(complaints, "\n"), key.String()) {
			fmt.Fprintf(&found, "%s, -before +after:\n%s", key, cmp.Diff(content(object), content(now)))
		}
	}
	return found.String()
}

// movedFrom reports of which objects other items are the owners than before.
func movedFrom(before, after map[Key][]string) func(Key) bool {
	moved := map[Key]bool{}
	for key, owners := range before {
		now := after[key]
		moved[key] = len(owners) > 0 && len(now) > 0 && !slices.ContainsFunc(now, func(owner string) bool { return slices.Contains(owners, owner) })
	}
	return func(key Key) bool { return moved[key] }
}

func (s *stage) look() Snapshot {
	s.t.Helper()
	seen, err := Look(s.t.Context(), s.Space, s.targets)
	if err != nil {
		s.t.Fatal(err)
	}
	return seen
}

func (s *stage) plan(root string) []byte {
	s.t.Helper()
	var out, complaints bytes.Buffer
	streams := terminal.Streams{In: strings.NewReader(""), Out: &out, Err: &complaints, Getenv: func(string) string { return "" }, Columns: func() int { return 0 }, Rows: func() int { return 0 }}
	code := cli.Run(s.t.Context(), streams, "landscaper-cli", []string{"inst", "plan", root, "-n", s.Space, "-o", "json", "--kubeconfig", env.Resource.Kubeconfig})
	if code != 0 && code != 2 {
		s.t.Errorf("%s: plan %s ends with %d: %s", s.Space, root, code, complaints.String())
	}
	return out.Bytes()
}

// store writes the landscape as it should be.
func (s *stage) store() {
	s.t.Helper()
	for name, value := range s.Data {
		data := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: s.Space, Name: name}}
		s.put(data, func() { data.Data = v1alpha1.NewAnyJSON(fmt.Appendf(nil, "%q", value)) })
	}
	for _, root := range s.Roots {
		raw, err := json.Marshal(root.spec(s.Space))
		if err != nil {
			s.t.Fatal(err)
		}
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: s.Space, Name: root.Name}}
		s.put(inst, func() {
			inst.Spec = v1alpha1.InstallationSpec{}
			if err := json.Unmarshal(raw, &inst.Spec); err != nil {
				s.t.Fatal(err)
			}
			delete(inst.Annotations, v1alpha1.SkipAnnotation)
			if root.Skips {
				metav1.SetMetaDataAnnotation(&inst.ObjectMeta, v1alpha1.SkipAnnotation, "true")
			}
		})
	}
}

func (s *stage) put(object client.Object, mutate func()) {
	s.t.Helper()
	if _, err := controllerutil.CreateOrUpdate(s.t.Context(), env.Admin, object, func() error { mutate(); return nil }); err != nil {
		s.t.Fatal(err)
	}
}

// disturb changes objects as another client.
func (s *stage) disturb(changes []Live) {
	s.t.Helper()
	for _, change := range changes {
		on := s.targets[change.Key.Target]
		object := s.look()[change.Key]
		if object == nil {
			continue // it does not exist yet, or another client has deleted it
		}
		var err error
		switch {
		case change.Gone:
			err = on.Delete(s.t.Context(), object)
		case change.Label != "":
			err = on.Patch(s.t.Context(), object, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{%q:"x"}}}`, change.Label)))
		default:
			err = on.Patch(s.t.Context(), object, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"data":{%q:"drift"}}`, change.Field)))
		}
		if err != nil {
			s.t.Logf("%s: the other client fails with %s: %v", s.Space, change.Key, err)
		}
	}
}

// quiet waits until no root has anything to do, and names those whose last job failed.
func (s *stage) quiet() string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), scenario.WaitLimit)
	defer cancel()
	list := &v1alpha1.InstallationList{}
	events, err := env.Admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(s.Space))
	if err != nil {
		s.t.Fatal(err)
	}
	defer events.Stop()
	for {
		if err := env.Admin.List(ctx, list, client.InNamespace(s.Space)); err != nil {
			s.t.Fatalf("%s does not come to rest: %v", s.Space, err)
		}
		failed, busy := "", false
		for i := range list.Items {
			inst := &list.Items[i]
			if inst.Labels[v1alpha1.EncompassedByLabel] != "" {
				continue
			}
			busy = busy || inst.Status.JobID != inst.Status.JobIDFinished || inst.Annotations[v1alpha1.OperationAnnotation] != "" || job.Admitted(inst) || len(inst.Status.DependentsToTrigger) > 0
			if inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Failed && inst.Status.LastError != nil {
				failed += inst.Name + ": " + inst.Status.LastError.Message + " "
			}
		}
		if !busy {
			return failed
		}
		<-events.ResultChan()
	}
}

// clusters are the names of the Targets by the addresses of their clusters.
func clusters() map[string]string {
	return map[string]string{env.Target.Server: "host", env.Lab.Clusters["edge"].Server: "edge"}
}
