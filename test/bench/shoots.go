package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/garden"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// robot is who reads the garden for the TargetSync.
const robot = "robot"

// pageSize is how many shoots a page of a list has.
const pageSize = 500

// manyShoots measures what a TargetSync for a large project costs.
func manyShoots(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	found, err := b.shoots(ctx, b.large)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("TargetSync of %d shoots: ", found.Count)
	r.measured(name+"first run", found.FirstSeconds, "s")
	r.counted(name+"requests at once", float64(found.AtOnce), "", atMost(5))
	r.counted(name+"requests of each", found.FirstRequestsEach, "")
	r.counted(name+"requests to the garden, nothing due", float64(found.SteadySource), "", atMost(float64(found.Pages)))
	r.counted(name+"writes, nothing due", float64(found.SteadyWrites), "", atMost(0))
	return nil
}

// Shoots is what a TargetSync for a project costs.
type Shoots struct {
	Count int
	// FirstSeconds is how long the first run takes, AtOnce how many requests for
	// credentials the garden had at the same time, FirstRequestsEach all requests to
	// both clusters for each shoot.
	FirstSeconds      float64
	AtOnce            int
	FirstRequestsEach float64
	// SteadySource and SteadyWrites are the requests to the garden and the writes of a
	// run in which nothing is due; Pages is how many pages one list has.
	SteadySource int
	SteadyWrites int
	Pages        int
}

// shoots synchronises a project, and once more when nothing is due.
func (b *bench) shoots(ctx context.Context, count int) (Shoots, error) {
	figures := Shoots{Count: count, Pages: (count + pageSize - 1) / pageSize}
	space, plot, err := b.project(ctx, count)
	if err != nil {
		return figures, err
	}
	defer plot.Stop() //nolint:errcheck // the process ends after it
	counted, err := b.countShoots(ctx)
	if err != nil {
		return figures, err
	}
	sync := &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "project"}, Spec: v1alpha1.TargetSyncSpec{
		SourceNamespace: space, ShootNameExpression: "*", SecretRef: v1alpha1.LocalSecretReference{Name: "garden", Key: "kubeconfig"},
	}}
	began := time.Now()
	if err := b.admin.Create(ctx, sync); err != nil {
		return figures, err
	}
	if err := b.awaitSync(ctx, sync, func(now *v1alpha1.TargetSync) bool { return int(now.Status.SyncedTargets) == count }); err != nil {
		return figures, err
	}
	figures.FirstSeconds, figures.AtOnce = time.Since(began).Seconds(), plot.AtOnce()
	requests, err := counted.Requests(ctx)
	if err != nil {
		return figures, err
	}
	figures.FirstRequestsEach = float64(len(requests)) / float64(count)
	figures.SteadySource, figures.SteadyWrites, err = b.nothingDue(ctx, sync)
	return figures, err
}

func (b *bench) countShoots(ctx context.Context) (*landscape.Count, error) {
	return landscape.StartCount(ctx,
		landscape.Caller{Cluster: b.lab.Clusters["resource"], User: serverUser},
		landscape.Caller{Cluster: b.lab.Clusters["target"], User: robot})
}

// nothingDue counts the requests to the garden and the writes of another run.
func (b *bench) nothingDue(ctx context.Context, sync *v1alpha1.TargetSync) (source, writes int, err error) {
	counted, err := b.countShoots(ctx)
	if err != nil {
		return 0, 0, err
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"reconcile"}}}`, v1alpha1.OperationAnnotation)
	if err := b.admin.Patch(ctx, sync, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return 0, 0, err
	}
	if err := b.awaitSync(ctx, sync, func(now *v1alpha1.TargetSync) bool { return now.Annotations[v1alpha1.OperationAnnotation] == "" }); err != nil {
		return 0, 0, err
	}
	requests, err := counted.Requests(ctx)
	for _, request := range requests {
		switch {
		case request.Cluster == "target":
			source++
		case request.Verb == "get", request.Verb == "list", request.Verb == "patch" && strings.HasPrefix(request.Resource, "targetsyncs"):
			// The request itself is answered with a patch.
		default:
			writes++
		}
	}
	return source, writes, err
}

// project makes a garden of the target cluster, with shoots and who may read them.
func (b *bench) project(ctx context.Context, count int) (space string, plot *garden.Garden, err error) {
	if space, err = b.namespace(ctx); err != nil {
		return "", nil, err
	}
	target := b.lab.Clusters["target"]
	if plot, err = garden.Start(ctx, target); err != nil {
		return "", nil, err
	}
	user, err := target.AddUser(ctx, lab.UserOptions{Name: robot, ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		return "", nil, err
	}
	access, err := os.ReadFile(user.Kubeconfig)
	if err != nil {
		return "", nil, err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "garden"}, Data: map[string][]byte{"kubeconfig": access}}
	if err := b.admin.Create(ctx, secret); err != nil {
		return "", nil, err
	}
	return space, plot, inParallel(count, creators, func(i int) error {
		return plot.AddShoot(ctx, plot.NewShoot(space, fmt.Sprintf("shoot-%04d", i), target))
	})
}

// awaitSync watches a TargetSync until a condition holds.
func (b *bench) awaitSync(ctx context.Context, sync *v1alpha1.TargetSync, holds func(*v1alpha1.TargetSync) bool) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	events, err := b.admin.Watch(ctx, &v1alpha1.TargetSyncList{}, &client.ListOptions{
		Namespace: sync.Namespace, Raw: &metav1.ListOptions{ResourceVersion: sync.ResourceVersion},
	})
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if now, ok := event.Object.(*v1alpha1.TargetSync); ok && holds(now) {
			return nil
		}
	}
	return errors.New("the synchronisation did not end")
}
