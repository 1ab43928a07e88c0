package lifecycle

import (
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
	"go.landscaper.dev/internal/controller/shootflux/state"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// The conditions beside state.BootstrappedCondition.
const (
	// conditionUpToDate says whether the shoot has the release that is configured.
	conditionUpToDate = "FluxUpToDate"
	// conditionConfigured says whether Flux has deployed what it is to deploy.
	conditionConfigured = "FluxConfigured"
)

// describe sets the conditions that follow from a run.
func (w *work) describe(status *gardener.ExtensionStatus) {
	set := func(kind string, value gardener.ConditionStatus, reason reasons.Reason, message string) {
		status.Conditions = gardener.SetCondition(status.Conditions, gardener.Condition{Type: kind, Status: value, Reason: string(reason), Message: message}, w.now())
	}
	if w.after.Bootstrapped {
		set(state.BootstrappedCondition, gardener.ConditionTrue, reasons.BootstrapSuccessful, "the shoot has come up with Flux")
	} else {
		set(state.BootstrappedCondition, gardener.ConditionFalse, reasons.BootstrapPending, "the shoot has not come up with Flux yet")
	}
	if w.plan.pinned {
		set(conditionUpToDate, gardener.ConditionFalse, reasons.VersionPinnedByBootstrap,
			"the shoot was bootstrapped with Flux "+w.before.BootstrappedVersion+", and "+w.config.Flux.Version+" is configured: annotate the Shoot with "+
				RequestAnnotation+"="+RequestUpgrade+" to have it")
	} else {
		set(conditionUpToDate, gardener.ConditionTrue, reasons.UpToDate, "the shoot has the Flux that is configured, or its owner looks after it")
	}
	value, reason, message := w.configuredCondition()
	set(conditionConfigured, value, reason, message)
}

func (w *work) configuredCondition() (gardener.ConditionStatus, reasons.Reason, string) {
	switch {
	case w.config.Source == nil:
		return gardener.ConditionTrue, reasons.NothingConfigured, "no source is configured, so there is nothing to deploy"
	case w.shoot.Hibernates():
		return gardener.ConditionUnknown, reasons.Hibernated, "the shoot sleeps"
	case w.after.Bootstrapped && !w.plan.config.continuous:
		return gardener.ConditionTrue, reasons.NotManaged, "source and kustomization belong to the owner of the shoot since the bootstrap"
	case w.unready == nil && w.looked:
		return gardener.ConditionTrue, reasons.Ready, "Flux has deployed what the source has"
	case w.unready == nil:
		return gardener.ConditionProgressing, reasons.Pending, "source and kustomization are not in the shoot yet"
	case w.unready.Failed:
		return gardener.ConditionFalse, reasons.NotReady, w.unready.String()
	}
	return gardener.ConditionProgressing, reasons.Pending, w.unready.String()
}

// provider returns the provider status of an Extension, for users and for this controller.
func (w *work) provider() *runtime.RawExtension {
	status := state.ReadStatus(w.e)
	status.ProjectNamespace, status.Origin, status.SyncMode = w.shoot.Namespace, string(w.config.Origin), string(w.config.SyncMode)
	status.Version, status.PublicKey, status.PrivateSource = w.plan.version, "", w.credentials != nil
	if w.credentials != nil {
		status.PublicKey = w.credentials.publicKey
	}
	return status.Encode()
}

// moving returns the objects that move with the shoot to another seed.
func (w *work) moving() []gardener.NamedResource {
	if w.after.GeneratedSecretName == "" {
		return nil
	}
	return []gardener.NamedResource{{
		Name:        sourcesecret.SeedName,
		ResourceRef: gardener.CrossReference{APIVersion: "v1", Kind: "Secret", Name: w.after.GeneratedSecretName},
	}}
}
