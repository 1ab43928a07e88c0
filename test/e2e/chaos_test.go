package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/scenario"
)

var (
	chaosSeed  = flag.Uint64("chaos-seed", 0, "repeat the chaos of a seed")
	chaosTrees = flag.Int("chaos-trees", 50, "how many trees of four Installations live through the chaos")
	chaosTime  = flag.Duration("chaos-time", 0, "how long waves of jobs go on; 0 means one wave")
)

// chaos is a landscape that changes while requests, processes and connections fail.
type chaos struct {
	t      *testing.T
	random *rand.Rand
	// kubeconfig leads the server through the fault proxy.
	kubeconfig string
	server     *scenario.Server
	roots      []*v1alpha1.Installation
	// kills is how often the server was killed, running how many Installations had a job
	// then, and failed how many requests had met a fault.
	kills, running, failed int
}

// rules are faults of every kind, at most a third of all requests together.
func (c *chaos) rules() []lab.Rule {
	writes := []string{"create", "update", "patch", "delete"}
	share := func() float64 { return float64(1+c.random.IntN(8)) / 100 }
	all := []lab.Rule{
		{Name: "conflict", Verbs: []string{"update", "patch"}, Share: share(), Action: "status", Status: 409},
		{Name: "busy", Share: share(), Action: "status", Status: 429},
		{Name: "broken", Share: share(), Action: "status", Status: 500},
		{Name: "cut", Share: share(), Action: "cut"},
		{Name: "lost", Verbs: writes, Share: share(), Action: "lose"},
		{Name: "watches-end", Verbs: []string{"watch"}, Share: 0.3, Action: "cut", Delay: "2s"},
	}
	if c.random.IntN(2) == 0 {
		all = append(all, lab.Rule{Name: "stalled", Verbs: []string{"watch"}, Share: 0.3, Action: "stall"})
	}
	return all
}

// disturb sets other faults for both clusters; none if calm.
func (c *chaos) disturb(calm bool) {
	c.t.Helper()
	for _, cluster := range []*lab.Cluster{env.Resource, env.Target} {
		faults := lab.Faults{Seed: c.random.Uint64()}
		if !calm {
			faults.Rules = c.rules()
		}
		if err := cluster.SetFaults(c.t.Context(), faults); err != nil {
			c.t.Fatal(err)
		}
	}
}

// storm lets faults of several kinds and kills of the server follow each other, and then leaves the
// landscape alone.
func (c *chaos) storm(kills int) {
	c.t.Helper()
	for range kills {
		c.disturb(false)
		// The moment of the kill is random on purpose; nothing waits for it.
		<-time.After(time.Duration(c.random.IntN(2500)) * time.Millisecond)
		select {
		case <-c.server.Ended():
			c.t.Errorf("the server has ended by itself: %s", c.server.Tail(20))
		default:
			c.server.EndBy(syscall.SIGKILL)
		}
		c.count()
		c.server = launchServer(c.t, c.kubeconfig)
	}
	c.disturb(true)
	c.server.AwaitReady()
}

// count notes what the faults and the kill have met.
func (c *chaos) count() {
	c.t.Helper()
	c.kills++
	all := &v1alpha1.InstallationList{}
	if err := env.Admin.List(c.t.Context(), all); err != nil {
		c.t.Fatal(err)
	}
	for i := range all.Items {
		if status := &all.Items[i].Status; status.JobID != status.JobIDFinished {
			c.running++
		}
	}
	decisions, err := env.Resource.Decisions(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, decision := range decisions {
		if decision.Hit {
			c.failed++
		}
	}
}

// newChaos creates the landscape and starts the server.
func newChaos(t *testing.T) *chaos {
	t.Helper()
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat it with: go test ./test/e2e -run TestChaos -chaos-seed %d", seed)
	rules, err := env.ChartRules("landscaper-chaos")
	if err != nil {
		t.Fatal(err)
	}
	c := &chaos{t: t, random: rand.New(rand.NewPCG(seed, 0))}
	c.kubeconfig = scenario.Proxied(t, env.Resource, lab.UserOptions{Name: "landscaper-chaos", ManifestFile: rules})
	target, err := os.ReadFile(scenario.Proxied(t, env.Target, lab.UserOptions{Name: "deployer-chaos", ClusterRoles: []string{"cluster-admin"}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, cluster := range []*lab.Cluster{env.Resource, env.Target} {
			if err := cluster.SetFaults(t.Context(), lab.Faults{}); err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
		}
	})
	c.server = startServer(t, c.kubeconfig)
	for i := range *chaosTrees {
		space := namespace(t)
		env.ReplaceTarget(t, space, "host", string(target))
		c.roots = append(c.roots, createTree(t, space, fmt.Sprintf("root-%d", i), treeExports, recordedLeaves()...))
	}
	return c
}

// again gives all trees another greeting and asks for another job.
func (c *chaos) again(greeting string) {
	c.t.Helper()
	for _, root := range c.roots {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			data := &v1alpha1.DataObject{}
			if err := env.Admin.Get(c.t.Context(), client.ObjectKey{Namespace: root.Namespace, Name: "greeting"}, data); err != nil {
				return err
			}
			data.Data = v1alpha1.NewAnyJSON(fmt.Appendf(nil, "%q", greeting))
			return env.Admin.Update(c.t.Context(), data)
		})
		if err != nil {
			c.t.Fatal(err)
		}
		request(c.t, root, v1alpha1.ReconcileOperation)
	}
}

// settled waits until every job has ended, and checks what all trees have brought up.
func (c *chaos) settled(greeting string) {
	c.t.Helper()
	for i, root := range c.roots {
		done := waitFor(c.t, client.ObjectKeyFromObject(root), "done", func(inst *v1alpha1.Installation) bool {
			status := &inst.Status
			return inst.Annotations[v1alpha1.OperationAnnotation] == "" && status.JobID != "" && status.JobID == status.JobIDFinished && status.JobID != root.Status.JobID
		})
		c.roots[i] = done
		checkTree(c.t, done, subsOf(c.t, done), greeting)
	}
}

// deleted waits until everything is deleted, on both clusters.
func (c *chaos) deleted() {
	c.t.Helper()
	for _, root := range c.roots {
		waitGone(c.t, env.Admin, root.DeepCopy(), &v1alpha1.InstallationList{})
		left := &corev1.ConfigMapList{}
		if err := env.Workload.List(c.t.Context(), left, client.InNamespace(root.Namespace)); err != nil {
			c.t.Fatal(err)
		}
		for _, object := range left.Items {
			if strings.HasPrefix(object.Name, "note-") {
				c.t.Errorf("ConfigMap %s/%s is left on the target cluster", object.Namespace, object.Name)
			}
		}
		for _, list := range []client.ObjectList{&v1alpha1.InstallationList{}, &v1alpha1.ExecutionList{}, &v1alpha1.DeployItemList{}} {
			if err := env.Admin.List(c.t.Context(), list, client.InNamespace(root.Namespace)); err != nil {
				c.t.Fatal(err)
			}
			if meta.LenList(list) > 0 {
				c.t.Errorf("%d of %T are left in %s", meta.LenList(list), list, root.Namespace)
			}
		}
	}
}

// TestChaos: while trees pass data on, the server is killed at random moments and requests to both
// clusters fail in every way. In the end every job has succeeded, every export is right, everything
// exists once, and after the deletion nothing is left.
func TestChaos(t *testing.T) {
	c := newChaos(t)
	end := time.Now().Add(*chaosTime)
	greeting := "hello"
	for wave := 0; wave == 0 || time.Now().Before(end); wave++ {
		c.storm(6)
		c.settled(greeting)
		greeting = fmt.Sprintf("wave %d", wave)
		c.again(greeting)
	}
	c.storm(3)
	c.settled(greeting)
	for _, root := range c.roots {
		if err := env.Admin.Delete(t.Context(), root); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	c.storm(3)
	c.deleted()
	t.Logf("%d trees lived through %d kills, in which %d jobs were running, and %d faults", len(c.roots), c.kills, c.running, c.failed)
	if c.running < c.kills || c.failed < 10*c.kills {
		t.Error("so little was going on that this shows nothing")
	}
}
