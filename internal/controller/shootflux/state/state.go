// Package state has the stored state of a shoot of the extension shoot-flux: a part that moves with
// the shoot to another seed, and a part that stays on this one.
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
	// BootstrappedCondition is the condition by which other tools record a bootstrap.
	BootstrappedCondition = "FluxBootstrapped"
)

// State moves with the shoot to another seed.
type State struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Bootstrapped says that Flux has become ready once in the shoot.
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
	// WaitingSince is when the extension began its current wait.
	WaitingSince *time.Time `json:"waitingSince,omitempty"`
}

// Status stays on this seed.
type Status struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// PublicKey must be registered with the repository.
	PublicKey string `json:"publicKey,omitempty"`
	// ProjectNamespace is where the project is in the garden.
	ProjectNamespace string `json:"projectNamespace,omitempty"`
	Origin           string `json:"origin,omitempty"`
	SyncMode         string `json:"syncMode,omitempty"`
	Version          string `json:"version,omitempty"`
	// PrivateSource says that the source needs credentials.
	PrivateSource bool `json:"privateSource,omitempty"`
}

// Read returns what is remembered of the shoot of an Extension. A shoot that another tool has
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
		return state, errors.New("status.state cannot be decoded: restore its last valid content, or remove it to bootstrap the shoot again")
	}
	if state.Kind != kind || state.APIVersion != apiVersion {
		return state, errors.New("status.state is of another kind than " + kind + " of " + apiVersion + ": a newer release may have written it, use that release")
	}
	return state, nil
}

// Encode writes the state.
func (s State) Encode() *runtime.RawExtension { return encode(&s) }

// ReadStatus returns what is remembered of an Extension on this seed; an unreadable one is empty,
// because it is written again.
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

// encode encodes a value as an API server returns it, with sorted fields, so that an unchanged
// value compares equal.
func encode(value any) *runtime.RawExtension {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		panic("texts and times cannot be converted") // cannot happen
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		panic("texts and times cannot be written as JSON") // cannot happen
	}
	return &runtime.RawExtension{Raw: raw}
}
