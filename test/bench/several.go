package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

const releaseCount = 30

// releases measure Helm releases that come up at the same time.
func releases(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	archive, err := landscape.Chart("greeter", "1.0.0", "", map[string]string{
		"templates/greeting.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\ndata: {greeting: hello}\n",
	})
	if err != nil {
		return err
	}
	crowd, err := b.newCrowd(ctx, releaseCount, func(space, name string) *v1alpha1.Installation {
		return landscape.NewInstallation(space, name, landscape.HelmItem(archive, ""))
	})
	if err != nil {
		return err
	}
	came, err := crowd.come(ctx, crowd.succeeded())
	if err != nil {
		return err
	}
	r.costs(fmt.Sprintf("%d releases of Helm: ", releaseCount), came)
	return nil
}

const (
	clusterCount = 20
	slowClusters = 3
	// slowness is how long each answer of a slow cluster takes.
	slowness = "2s"
	// onEach is how many Installations each cluster has.
	onEach = 5
)

// slowTargets measure what is deployed to many clusters, of which some are slow: those on
// the others need not wait for them. Each cluster has a user of its own, which makes it
// another one for the server, although one API server answers for all.
func slowTargets(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	delay := lab.Rule{Name: "slow", Share: 1, Action: "delay", Delay: slowness}
	if err := b.target().SetFaults(ctx, lab.Faults{Seed: 1, Rules: []lab.Rule{delay}}); err != nil {
		return err
	}
	quick, err := b.clusters(ctx, "quick", clusterCount-slowClusters, false)
	if err != nil {
		return err
	}
	slow, err := b.clusters(ctx, "slow", slowClusters, true)
	if err != nil {
		return err
	}
	// The first time, clusters are discovered.
	if _, err := b.onClusters(ctx, quick); err != nil {
		return err
	}
	usual, err := b.onClusters(ctx, quick)
	if err != nil {
		return err
	}
	late, err := b.crowdOn(ctx, slow)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		_, err := late.come(ctx, late.succeeded())
		done <- err
	}()
	beside, err := b.onClusters(ctx, quick)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("beside %d slow of %d clusters: ", slowClusters, clusterCount)
	r.measured(name+"speed of the others, without slow ones it is 100 %", 100*beside.perSecond()/usual.perSecond(), "%", atLeast(90))
	r.counted(name+"requests of each", beside.each(float64(len(beside.requests))), "", atMost(float64(landscape.Smallest.Writes+landscape.Smallest.Reads)))
	return <-done
}

// clusters makes users of the target cluster, and returns their kubeconfigs.
func (b *bench) clusters(ctx context.Context, name string, count int, slow bool) ([]string, error) {
	access := make([]string, count)
	for i := range access {
		user, err := b.target().AddUser(ctx, lab.UserOptions{Name: fmt.Sprintf("%s-%d", name, i), ClusterRoles: []string{"cluster-admin"}, ThroughProxy: slow})
		if err != nil {
			return nil, err
		}
		content, err := os.ReadFile(user.Kubeconfig)
		if err != nil {
			return nil, err
		}
		access[i] = string(content)
	}
	return access, nil
}

// crowdOn returns Installations on some clusters, as many on each.
func (b *bench) crowdOn(ctx context.Context, clusters []string) (*crowd, error) {
	next := atomic.Int64{}
	crowd, err := b.newCrowd(ctx, len(clusters)*onEach, func(space, name string) *v1alpha1.Installation {
		inst := newInstallation(space, name)
		inst.Spec.Imports.Targets[0].Target = fmt.Sprintf("cluster-%d", int(next.Add(1))%len(clusters))
		return inst
	})
	if err != nil {
		return nil, err
	}
	for i, access := range clusters {
		target, err := landscape.Target(crowd.space, fmt.Sprintf("cluster-%d", i), access)
		if err != nil {
			return nil, err
		}
		if err := b.admin.Create(ctx, target); err != nil {
			return nil, err
		}
	}
	return crowd, nil
}

// onClusters measures Installations on some clusters, without the requests to these.
func (b *bench) onClusters(ctx context.Context, clusters []string) (phase, error) {
	crowd, err := b.crowdOn(ctx, clusters)
	if err != nil {
		return phase{}, err
	}
	came, err := crowd.come(ctx, crowd.succeeded())
	came.requests = slices.DeleteFunc(came.requests, crowd.foreign)
	return came, err
}
