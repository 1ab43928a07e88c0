package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

const (
	// failingFor is how long an item is tried that cannot be applied. The pauses grow
	// from a second to the double each time, so that there are attempts after 0, 1, 3,
	// 7, 15 and 30 seconds.
	failingFor  = 30 * time.Second
	mostAttempt = 6
	// deadTargets is how many Installations have a Target that does not answer.
	deadTargets = 100
)

// troubles are Installations that get nowhere.
func troubles(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	if err := b.blocked(ctx, r); err != nil {
		return fmt.Errorf("blocked: %w", err)
	}
	if err := b.failing(ctx, r); err != nil {
		return fmt.Errorf("failing: %w", err)
	}
	if err := b.beside(ctx, r); err != nil {
		return fmt.Errorf("beside a dead target: %w", err)
	}
	return nil
}

// unserved exports a value when its item is done, for which no deployer runs.
const unserved = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
exports: [{name: value, schema: {type: string}}]
deployExecutions: [{name: default, type: GoTemplate, template: 'deployItems: [{name: one, type: bench.example.org/unserved, config: {apiVersion: v1, kind: Any}}]'}]
exportExecutions: [{name: default, type: GoTemplate, template: 'exports: {value: here}'}]
`

// blocked measures Installations that import what another one is at work on.
func (b *bench) blocked(ctx context.Context, r *Report) error {
	crowd, err := b.newCrowd(ctx, b.large, func(space, name string) *v1alpha1.Installation {
		inst := landscape.Described(space, name, "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports: [{name: value, schema: {type: string}}]\n")
		inst.Spec.Imports = v1alpha1.InstallationImports{Data: []v1alpha1.DataImport{{Name: "value", DataRef: "value"}}}
		return inst
	})
	if err != nil {
		return err
	}
	exporter := landscape.Described(crowd.space, "exporter", unserved)
	exporter.Spec.Imports = v1alpha1.InstallationImports{}
	exporter.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "value", DataRef: "value"}}
	if err := b.admin.Create(ctx, exporter); err != nil {
		return err
	}
	began, err := crowd.come(ctx, func(_ watch.EventType, inst *v1alpha1.Installation) (bool, error) {
		last := inst.Status.LastError
		if inst.Status.InstallationPhase.IsFinal() {
			return false, fmt.Errorf("installation %s does not wait: %+v", inst.Name, last)
		}
		return last != nil && last.Reason == "ImportsSatisfied", nil
	})
	if err != nil {
		return err
	}
	waiting, err := b.idle(ctx, idleTime)
	if err != nil {
		return err
	}
	interrupt := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"interrupt"}}}`, v1alpha1.OperationAnnotation))
	released, err := crowd.measure(ctx, func(ctx context.Context, i int) error {
		if i > 0 {
			return nil
		}
		return b.admin.Patch(ctx, exporter, interrupt)
	}, crowd.ended(v1alpha1.InstallationPhases.Failed))
	name := fmt.Sprintf("%d blocked: ", crowd.size)
	r.counted(name+"requests of each until it waits", began.each(float64(len(began.requests))), "")
	r.counted(name+"requests per minute of all while they wait", waiting, "", atMost(0))
	r.counted(name+"requests of each when they are released", released.each(float64(len(released.requests))), "")
	return err
}

// failing measures Installations whose item goes into a namespace that is not there.
func (b *bench) failing(ctx context.Context, r *Report) error {
	crowd, err := b.newCrowd(ctx, b.large, func(space, name string) *v1alpha1.Installation {
		text := strings.NewReplacer("namespace: NAMESPACE", "namespace: nowhere", "- name: one", "- name: one\n  timeout: "+failingFor.String()).Replace(landscape.OneConfigMap)
		return landscape.NewInstallation(space, name, text)
	})
	if err != nil {
		return err
	}
	failed, err := crowd.come(ctx, crowd.ended(v1alpha1.InstallationPhases.Failed))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d failing: ", crowd.size)
	attempts := landscape.Sums(failed.requests)["target create configmaps"]
	r.counted(name+"attempts of each", failed.each(float64(attempts)), "", atMost(mostAttempt))
	r.counted(name+"requests of each", failed.each(float64(len(failed.requests))), "")
	r.measured(name+"server CPU of each", failed.each(milliseconds(failed.cpu)), "ms")
	return nil
}

// beside measures Installations while others have a Target that does not answer.
func (b *bench) beside(ctx context.Context, r *Report) error {
	usual, err := b.comeAlone(ctx)
	if err != nil {
		return err
	}
	// The machine takes connections on behalf of a program that never looks.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open a port for a dead target: %w", err)
	}
	defer listener.Close() //nolint:errcheck // nobody has used it
	config := clientcmdapi.NewConfig()
	config.Clusters["dead"] = &clientcmdapi.Cluster{Server: "https://" + listener.Addr().String(), InsecureSkipTLSVerify: true}
	config.AuthInfos["dead"] = &clientcmdapi.AuthInfo{Token: "none"}
	config.Contexts["dead"] = &clientcmdapi.Context{Cluster: "dead", AuthInfo: "dead"}
	config.CurrentContext = "dead"
	text, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("write the kubeconfig of a dead target: %w", err)
	}
	dead, err := b.newCrowd(ctx, deadTargets, func(space, name string) *v1alpha1.Installation {
		inst := newInstallation(space, name)
		inst.Spec.Imports.Targets[0].Target = "dead"
		return inst
	})
	if err != nil {
		return err
	}
	target, err := landscape.Target(dead.space, "dead", string(text))
	if err != nil {
		return err
	}
	if err := b.admin.Create(ctx, target); err != nil {
		return err
	}
	_, err = dead.come(ctx, func(_ watch.EventType, inst *v1alpha1.Installation) (bool, error) {
		if inst.Status.InstallationPhase.IsFinal() {
			return false, errors.New("a dead target has answered: " + inst.Name)
		}
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing, nil
	})
	if err != nil {
		return err
	}
	// The waiting Installations still report now and then what they wait for.
	beside, err := b.comeAlone(ctx)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("beside %d on a dead target: ", deadTargets)
	r.counted(name+"requests of each", beside.each(float64(len(beside.requests))), "", atMost(float64(landscape.Smallest.Writes+landscape.Smallest.Reads)+1))
	r.measured(name+"speed, without it is 100 %", 100*beside.perSecond()/usual.perSecond(), "%", atLeast(90))
	return nil
}

// comeAlone measures a small crowd in a namespace of its own.
func (b *bench) comeAlone(ctx context.Context) (phase, error) {
	crowd, err := b.newCrowd(ctx, b.large/5, newInstallation)
	if err != nil {
		return phase{}, err
	}
	came, err := crowd.come(ctx, crowd.succeeded())
	came.requests = slices.DeleteFunc(came.requests, crowd.foreign)
	return came, err
}
