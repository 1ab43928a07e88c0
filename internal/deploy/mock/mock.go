// Package mock is a deployer without any effect: an item says itself how its job ends and what it
// exports. It is for tests and demos of everything above deployers.
package mock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	mockv1alpha1 "go.landscaper.dev/api/mock/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/ignored"
	"go.landscaper.dev/internal/deploy/schedule"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// Type is the type of the items.
	Type = v1alpha1.MockDeployItemType
	// Name names the deployer.
	Name = "mock.deployer.landscaper.gardener.cloud"
)

// Deployer does what items say.
type Deployer struct{}

// New returns the deployer.
func New() Deployer { return Deployer{} }

// Reconcile ends the job as the item says.
func (Deployer) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	config, err := parse(item.Spec.Configuration)
	note(item.DeployItem, err, metav1.Now())
	if err != nil {
		return deployer.Result{}, job.Wrap(err, published.InitMockOperation, reasons.ParseProviderConfiguration, "spec.config", v1alpha1.ErrorConfigurationProblem)
	}
	item.Warn(string(reasons.UnknownFields), ignored.Fields[mockv1alpha1.ProviderConfiguration](item.Spec.Configuration)...)
	if config.ProviderStatus != nil {
		item.Status.ProviderStatus = config.ProviderStatus.DeepCopy()
	}
	if config.exports == nil {
		err = item.RemoveExport(ctx)
	} else {
		err = item.Export(ctx, config.exports)
	}
	if err != nil {
		return deployer.Result{}, err
	}
	return end(config.ending())
}

// Delete has nothing to remove: the export Secret is deleted with the item.
func (Deployer) Delete(context.Context, *deployer.Item) (deployer.Result, error) {
	return deployer.Done(), nil
}

// Repetition implements deployer.Repeating.
func (Deployer) Repetition(item *v1alpha1.DeployItem) (repetition deployer.Repetition) {
	if !schedule.Asks(item.Spec.Configuration) {
		return repetition
	}
	config, err := parse(item.Spec.Configuration)
	if err != nil {
		return repetition
	}
	return schedule.Repetition(config.ContinuousReconcile, nil)
}

// Drift implements deployer.Repeating. There is no cluster on which another client could have
// changed something.
func (Deployer) Drift(context.Context, *deployer.Item) ([]string, error) { return nil, nil }

// ExportWatcher implements deployer.Repeating. The exports of a mock change with its configuration only,
// so it needs no watcher.
func (Deployer) ExportWatcher(context.Context, *deployer.Item) (deployer.ExportWatcher, error) {
	return nil, errors.New("a mock has no values that could be watched")
}

// config is a configuration that was read.
type config struct {
	mockv1alpha1.ProviderConfiguration
	// exports are nil if there is nothing to export.
	exports map[string]any
}

var phases = []v1alpha1.DeployItemPhase{
	v1alpha1.DeployItemPhases.Init, v1alpha1.DeployItemPhases.Progressing, v1alpha1.DeployItemPhases.Succeeded, v1alpha1.DeployItemPhases.Failed,
}

func parse(raw *runtime.RawExtension) (*config, error) {
	read := &config{}
	if err := json.Unmarshal(raw.Raw, &read.ProviderConfiguration); err != nil {
		// The reason may quote a value.
		return nil, errors.New("it is no configuration of the mock deployer: a field has the wrong type")
	}
	if read.APIVersion != mockv1alpha1.GroupVersion.String() || read.Kind != "ProviderConfiguration" {
		return nil, fmt.Errorf("apiVersion must be %s and kind ProviderConfiguration", mockv1alpha1.GroupVersion)
	}
	for _, field := range []struct {
		name  string
		phase *v1alpha1.DeployItemPhase
	}{{"initialPhase", read.InitialPhase}, {"phase", read.Phase}} {
		if field.phase != nil && !slices.Contains(phases, field.phase.Current()) {
			return nil, fmt.Errorf("%s must be one of %v", field.name, phases)
		}
	}
	if read.Export == nil || len(read.Export.RawMessage) == 0 {
		return read, nil
	}
	// Whole numbers stay whole, as with all other deployers.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(read.Export.RawMessage, &read.exports); err != nil || read.exports == nil {
		return nil, errors.New("export must be an object: exported values have keys")
	}
	return read, nil
}

// ending is the phase in which the job ends or remains.
func (c *config) ending() v1alpha1.DeployItemPhase {
	switch {
	case c.Phase != nil:
		return c.Phase.Current()
	case c.InitialPhase != nil:
		// It takes the place of the success that would follow by itself.
		return c.InitialPhase.Current()
	}
	return v1alpha1.DeployItemPhases.Succeeded
}

// end leads to a phase.
func end(phase v1alpha1.DeployItemPhase) (deployer.Result, error) {
	switch phase {
	case v1alpha1.DeployItemPhases.Succeeded:
		return deployer.Done(), nil
	case v1alpha1.DeployItemPhases.Failed:
		return deployer.Result{}, deployer.Final(job.NewError(published.Reconcile, reasons.MockFailed, "the configuration of this mock says that it fails"))
	}
	return deployer.WaitFor("another configuration of this mock"), nil
}

// note says in a condition whether the configuration can be read.
func note(item *v1alpha1.DeployItem, err error, now metav1.Time) {
	condition := v1alpha1.Condition{Type: v1alpha1.DeployItemValidationCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.SuccessfullValidation), Message: "the configuration is valid"}
	if err != nil {
		condition.Status, condition.Reason, condition.Message = v1alpha1.ConditionFalse, string(reasons.FailedUnmarshal), err.Error()
	}
	job.SetCondition(&item.Status.Conditions, condition, now)
}
