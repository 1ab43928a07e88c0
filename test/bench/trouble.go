package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// Trouble is the measurement of Installations that get nowhere.
type Trouble struct {
	Installations int `json:"installations"`
	// Blocked is what it costs to begin to wait, BlockedPerMinute what all of them cost
	// while they wait, and Released what it costs when there is nothing to wait for.
	Blocked          Phase   `json:"blocked"`
	BlockedPerMinute float64 `json:"blockedRequestsPerMinute"`
	Released         Phase   `json:"released"`
	// Failing is what those cost that are tried again and again for failingFor.
	Failing Phase `json:"failing"`
	// AttemptsEach is how often each was tried.
	AttemptsEach float64 `json:"attemptsEach"`
	// Dead is how many Installations have a Target that does not answer, and Beside what
	// others cost meanwhile, as many as in the small run.
	Dead   int   `json:"dead"`
	Beside Phase `json:"beside"`
}

const (
	// failingFor is how long an item is tried that cannot be applied. The pauses grow
	// from a second to the double each time, so that there are attempts after 0, 1, 3,
	// 7, 15 and 30 seconds.
	failingFor  = 30 * time.Second
	mostAttempt = 6
	// deadTargets is how many Installations have a Target that does not answer.
	deadTargets = 100
)

// trouble measures Installations that get nowhere.
func (b *bench) trouble(ctx context.Context, large, small int) (*Trouble, error) {
	found := &Trouble{Installations: large, Dead: deadTargets}
	for _, part := range []struct {
		what    string
		measure func(context.Context, *Trouble) error
	}{
		{fmt.Sprintf("%d blocked", large), b.blocked},
		{fmt.Sprintf("%d failing", large), b.failing},
		{fmt.Sprintf("%d at once beside %d on a dead target", small, deadTargets), func(ctx context.Context, found *Trouble) error { return b.beside(ctx, found, small) }},
	} {
		say(part.what)
		if err := part.measure(ctx, found); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return found, nil
}

// described returns the smallest case with another description of its blueprint.
func described(space, name, description string) *v1alpha1.Installation {
	inst := newInstallation(space, name)
	inst.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON(files(description))
	return inst
}

// nobody exports a value when its item is done, which no deployer is there for.
const nobody = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
exports: [{name: value, schema: {type: string}}]
deployExecutions: [{name: default, type: GoTemplate, template: 'deployItems: [{name: one, type: bench.example.org/nobody, config: {apiVersion: v1, kind: Any}}]'}]
exportExecutions: [{name: default, type: GoTemplate, template: 'exports: {value: here}'}]
`

// blocked measures Installations that import what another one is at work on.
func (b *bench) blocked(ctx context.Context, found *Trouble) error {
	crowd, err := b.newCrowd(ctx, found.Installations, func(space, name string) *v1alpha1.Installation {
		inst := described(space, name, "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports: [{name: value, schema: {type: string}}]\n")
		inst.Spec.Imports = v1alpha1.InstallationImports{Data: []v1alpha1.DataImport{{Name: "value", DataRef: "value"}}}
		return inst
	})
	if err != nil {
		return err
	}
	exporter := described(crowd.space, "exporter", nobody)
	exporter.Spec.Imports = v1alpha1.InstallationImports{}
	exporter.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "value", DataRef: "value"}}
	if err := b.admin.Create(ctx, exporter); err != nil {
		return err
	}
	found.Blocked, err = crowd.come(ctx, func(_ watch.EventType, inst *v1alpha1.Installation) (bool, error) {
		last := inst.Status.LastError
		if inst.Status.InstallationPhase.IsFinal() {
			return false, fmt.Errorf("installation %s does not wait: %+v", inst.Name, last)
		}
		return last != nil && last.Reason == "ImportsSatisfied", nil
	})
	if err != nil {
		return err
	}
	if found.BlockedPerMinute, err = b.idle(ctx, idleTime); err != nil {
		return err
	}
	interrupt := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"interrupt"}}}`, v1alpha1.OperationAnnotation))
	found.Released, err = crowd.measure(ctx, func(ctx context.Context, i int) error {
		if i > 0 {
			return nil
		}
		return b.admin.Patch(ctx, exporter, interrupt)
	}, crowd.ended(v1alpha1.InstallationPhases.Failed))
	return err
}

// failing measures Installations whose item goes into a namespace that is not there.
func (b *bench) failing(ctx context.Context, found *Trouble) error {
	crowd, err := b.newCrowd(ctx, found.Installations, func(space, name string) *v1alpha1.Installation {
		text := strings.NewReplacer("NAME", name, "namespace: SPACE", "namespace: nowhere", "- name: one", "- name: one\n      timeout: "+failingFor.String()).Replace(blueprint)
		inst := described(space, name, text)
		return inst
	})
	if err != nil {
		return err
	}
	if found.Failing, err = crowd.come(ctx, crowd.ended(v1alpha1.InstallationPhases.Failed)); err != nil {
		return err
	}
	found.AttemptsEach = float64(found.Failing.Requests["target create configmaps"]) / float64(crowd.size)
	return nil
}

// beside measures Installations while others have a Target that does not answer.
func (b *bench) beside(ctx context.Context, found *Trouble, size int) error {
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
	dead, err := b.newCrowd(ctx, found.Dead, func(space, name string) *v1alpha1.Installation {
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
	others, err := b.newCrowd(ctx, size, newInstallation)
	if err != nil {
		return err
	}
	found.Beside, err = others.come(ctx, others.succeeded())
	return err
}
