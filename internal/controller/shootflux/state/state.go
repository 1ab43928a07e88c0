// Package state holds what the extension shoot-flux remembers of a shoot: what goes with
// the shoot to another seed, and what stays on this one.
package state

import (
	"encoding/json"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

const (
	apiVersion = "flux.extensions.gardener.cloud/v1alpha1"
	kind       = "FluxState"
	statusKind = "FluxStatus"
	// BootstrappedCondition is the condition by which others remember a bootstrap.
	BootstrappedCondition = "FluxBootstrapped"
)

// State goes with the shoot to another seed.
type State struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Bootstrapped says that the shoot has once come up with Flux.
	Bootstrapped bool `json:"bootstrapped,omitempty"`
	// BootstrapTime, BootstrappedVersion and BootstrappedBy say when, with which release
	// of Flux, and by whose configuration.
	BootstrapTime       *time.Time `json:"bootstrapTime,omitempty"`
	BootstrappedVersion string     `json:"bootstrappedVersion,omitempty"`
	BootstrappedBy      string     `json:"bootstrappedBy,omitempty"`
	// HandledOperation is the last request of the Shoot's annotation that was carried out.
	HandledOperation string `json:"handledOperation,omitempty"`
	// ConfigChecksum identifies the configuration that was applied last.
	ConfigChecksum string `json:"configChecksum,omitempty"`
	// CredentialsIn is where the credentials of the source were found: Shoot, Garden or Seed.
	CredentialsIn string `json:"credentialsIn,omitempty"`
	// GeneratedSecretName is the Secret beside the Extension with a key that was generated.
	GeneratedSecretName string `json:"generatedSecretName,omitempty"`
	// Namespace is where Flux runs in the shoot.
	Namespace string `json:"namespace,omitempty"`
	// DeletionPolicy holds when the configuration cannot be read any more.
	DeletionPolicy string `json:"deletionPolicy,omitempty"`
	// WaitingSince is when the extension began to wait for what is not there yet.
	WaitingSince *time.Time `json:"waitingSince,omitempty"`
}

// Status stays on this seed.
type Status struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// PublicKey is to be registered with the repository.
	PublicKey string `json:"publicKey,omitempty"`
	// ProjectNamespace is where the project is in the garden.
	ProjectNamespace string `json:"projectNamespace,omitempty"`
	Origin           string `json:"origin,omitempty"`
	SyncMode         string `json:"syncMode,omitempty"`
	Version          string `json:"version,omitempty"`
	// PrivateSource says that the source needs credentials.
	PrivateSource bool `json:"privateSource,omitempty"`
}

// Read returns what is remembered of the shoot of an Extension. A shoot that others have
// bootstrapped shows it by a condition only.
func Read(e *gardener.Extension) (State, error) {
	state := State{APIVersion: apiVersion, Kind: kind}
	if e.Status.State == nil || len(e.Status.State.Raw) == 0 || string(e.Status.State.Raw) == "null" {
		condition := gardener.FindCondition(e.Status.Conditions, BootstrappedCondition)
		state.Bootstrapped = condition != nil && condition.Status == gardener.ConditionTrue
		return state, nil
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(e.Status.State.Raw, &state); err != nil {
		// The reason is dropped on purpose: it may quote the text.
		return state, errors.New("status.state cannot be decoded: restore it from before somebody changed it, or remove it to bootstrap the shoot again")
	}
	if state.Kind != kind || state.APIVersion != apiVersion {
		return state, errors.New("status.state is of another kind than " + kind + " of " + apiVersion + ": a newer release may have written it, use that release")
	}
	return state, nil
}

// Encode writes the state.
func (s State) Encode() *runtime.RawExtension { return encode(&s) }

// ReadStatus returns what is remembered of an Extension on this seed; nothing if it
// cannot be read, for it is written again.
func ReadStatus(e *gardener.Extension) Status {
	status := Status{}
	if e.Status.ProviderStatus != nil {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(e.Status.ProviderStatus.Raw, &status); err != nil {
			status = Status{}
		}
	}
	status.APIVersion, status.Kind = apiVersion, statusKind
	return status
}

// Encode writes the status.
func (s Status) Encode() *runtime.RawExtension { return encode(&s) }

// encode writes a value as an API server gives it back, with its fields in order, so that
// what has not changed looks like it.
func encode(value any) *runtime.RawExtension {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		panic("texts and times cannot be converted") // they can
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		panic("texts and times cannot be written as JSON") // they can
	}
	return &runtime.RawExtension{Raw: raw}
}
