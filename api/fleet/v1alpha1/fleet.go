package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// Fleet brings one product up on many clusters: one Installation for each Target that it selects, changed
// in waves.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=fleets,singular=fleet
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Version,type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name=Targets,type=integer,JSONPath=`.status.counts.targets`
// +kubebuilder:printcolumn:name=Updated,type=integer,JSONPath=`.status.counts.updated`
// +kubebuilder:printcolumn:name=Succeeded,type=integer,JSONPath=`.status.counts.succeeded`
// +kubebuilder:printcolumn:name=Failed,type=integer,JSONPath=`.status.counts.failed`
// +kubebuilder:printcolumn:name=Wave,type=string,JSONPath=`.status.wave`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Fleet struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says what to bring up, where, and in which order.
	// +required
	Spec FleetSpec `json:"spec"`
	// Status says how far it is.
	// +optional
	Status FleetStatus `json:"status,omitempty"`
}

// FleetList is a list of Fleets.
//
// +kubebuilder:object:root=true
type FleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Fleets.
	Items []Fleet `json:"items"`
}

// FleetSpec says what to bring up, where, and in which order.
type FleetSpec struct {
	// Targets selects the Targets of this namespace that get an Installation.
	// +required
	Targets FleetTargets `json:"targets"`
	// Template is what each of them gets.
	// +required
	Template FleetTemplate `json:"template"`
	// Version is the version of the component of the template, or the Channel that finds it. Without it,
	// the template has it.
	// +optional
	Version *FleetVersion `json:"version,omitempty"`
	// Values are imports of the blueprint whose values differ from Target to Target.
	// +optional
	// +listType=map
	// +listMapKey=import
	// +kubebuilder:validation:MaxItems=50
	Values []FleetValue `json:"values,omitempty"`
	// Overrides are for some of the Targets. A later one goes before an earlier one.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Overrides []FleetOverride `json:"overrides,omitempty"`
	// Removal says what becomes of the Installation of a Target that is deleted or no longer selected,
	// and of all of them when the Fleet is deleted.
	// +optional
	Removal *FleetRemoval `json:"removal,omitempty"`
	// Rollout says in which order Installations change. Without it, all at once.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`
}

// FleetTargets selects Targets.
//
// +kubebuilder:validation:XValidation:rule="(has(self.all) && self.all) != has(self.selector)",message="write either selector or all: true"
// +kubebuilder:validation:XValidation:rule="!has(self.selector) || (has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)",message="a selector without a condition would select every Target: write all: true if that is meant"
type FleetTargets struct {
	// Selector selects Targets by their labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// All selects all Targets of the namespace that do not belong to an Installation.
	// +optional
	All bool `json:"all,omitempty"`
	// Limit is how many Targets may be selected: 1000 by default. A Fleet that selects more changes
	// nothing.
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Limit int32 `json:"limit,omitempty"`
}

// FleetTemplate is what each Target gets.
type FleetTemplate struct {
	// Labels of the Installations. Those of fleet.landscaper.dev belong to the Fleet.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the Installations. Those of fleet.landscaper.dev and operations belong to the Fleet.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// TargetImport is the import of the blueprint that gets the Target.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	TargetImport string `json:"targetImport"`
	// Spec is the specification of the Installations, without the Target.
	// +required
	Spec v1alpha1.InstallationSpec `json:"spec"`
}

// FleetVersion is the version of a component, or the Channel that finds it.
//
// +kubebuilder:validation:XValidation:rule="has(self.channel) != has(self.version)",message="write either channel or version"
type FleetVersion struct {
	// Channel is the name of a Channel of this namespace, whose component is that of the template.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Channel string `json:"channel,omitempty"`
	// Version is the version.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`
}

// FleetValue is an import whose value differs from Target to Target. The first source that has a value
// counts.
type FleetValue struct {
	// Import is the name of a data import of the blueprint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Import string `json:"import"`
	// Label is the key of a label of the Target.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	Label string `json:"label,omitempty"`
	// Annotation is the key of an annotation of the Target.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	Annotation string `json:"annotation,omitempty"`
	// DataObject is the name of a DataObject of this namespace, in which {target} stands for the name of
	// the Target.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	DataObject string `json:"dataObject,omitempty"`
	// Value is what counts if none of the others has one. Without it, a Target without a value gets no
	// Installation, and the status says so.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Value *v1alpha1.AnyJSON `json:"value,omitempty"`
}

// FleetOverride is for some of the Targets.
type FleetOverride struct {
	// Name tells overrides apart.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Selector selects Targets of the Fleet by their labels.
	// +required
	Selector metav1.LabelSelector `json:"selector"`
	// Version is another version of the component, which keeps these Targets at it.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`
	// Values are values of data imports of the blueprint.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Values map[string]v1alpha1.AnyJSON `json:"values,omitempty"`
}

// RemovalPolicy says what becomes of an Installation that the Fleet no longer has.
//
// +kubebuilder:validation:Enum=Delete;Orphan;Wait
type RemovalPolicy string

const (
	// RemovalDelete deletes the Installation, which uninstalls what it has deployed.
	RemovalDelete RemovalPolicy = "Delete"
	// RemovalOrphan leaves it to users, with what it has deployed.
	RemovalOrphan RemovalPolicy = "Orphan"
	// RemovalWait leaves it in the Fleet, without changes, until a user decides. When the Fleet is deleted,
	// it is the same as Orphan.
	RemovalWait RemovalPolicy = "Wait"
)

// FleetRemoval says what becomes of Installations that the Fleet no longer has.
type FleetRemoval struct {
	// Policy is what becomes of them: Wait by default.
	// +optional
	// +kubebuilder:default=Wait
	Policy RemovalPolicy `json:"policy,omitempty"`
	// Grace is how long a Target has to be absent before: 10m by default.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(h|m|s))+$`
	Grace string `json:"grace,omitempty"`
	// MaxPercent is how many of the Installations may be without a Target at the same time, in percent: 20
	// by default, and one is always permitted. If there are more, none is removed, until the annotation
	// fleet.landscaper.dev/allow-removal has their number.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxPercent *int32 `json:"maxPercent,omitempty"`
}

// FailureAction says what a failure in a wave does.
//
// +kubebuilder:validation:Enum=Stop;Skip;GoBack;GoBackWave
type FailureAction string

const (
	// FailureStop begins no further Installation, until a user acts.
	FailureStop FailureAction = "Stop"
	// FailureSkip leaves the Installation as it is, and goes on.
	FailureSkip FailureAction = "Skip"
	// FailureGoBack brings the Installations that have failed back to the revision that all Targets had
	// last, and begins no further one.
	FailureGoBack FailureAction = "GoBack"
	// FailureGoBackWave brings all Installations of the wave back.
	FailureGoBackWave FailureAction = "GoBackWave"
)

// NewVersionAction says what a newer specification does during a roll-out.
//
// +kubebuilder:validation:Enum=Replace;Wait
type NewVersionAction string

const (
	// NewVersionReplace begins again with the first wave.
	NewVersionReplace NewVersionAction = "Replace"
	// NewVersionWait ends the present roll-out before.
	NewVersionWait NewVersionAction = "Wait"
)

// Rollout says in which order Installations change.
type Rollout struct {
	// Waves are what changes together, one after the other. A Target is in the first one that takes it;
	// what none takes is in a last wave, named rest.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Waves []Wave `json:"waves,omitempty"`
	// OnFailure is what a failed Installation does: Stop by default.
	// +optional
	// +kubebuilder:default=Stop
	OnFailure FailureAction `json:"onFailure,omitempty"`
	// OnNewVersion is what a newer version or specification does during a roll-out: Replace by default.
	// +optional
	// +kubebuilder:default=Replace
	OnNewVersion NewVersionAction `json:"onNewVersion,omitempty"`
	// Paused begins no further Installation.
	// +optional
	Paused *FleetPause `json:"paused,omitempty"`
}

// FleetPause stops a roll-out until it is removed.
type FleetPause struct {
	// Reason says to people why.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}

// Wave is a part of the Targets that changes together.
//
// +kubebuilder:validation:XValidation:rule="[has(self.selector), has(self.percent), has(self.count)].filter(x, x).size() <= 1",message="write at most one of selector, percent and count"
type Wave struct {
	// Name tells waves apart.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self != 'rest'",message="rest is the name of the last wave"
	Name string `json:"name"`
	// Selector takes Targets by their labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Percent takes so many of all Targets of the Fleet, rounded up.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Percent int32 `json:"percent,omitempty"`
	// Count takes so many Targets.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Count int32 `json:"count,omitempty"`
	// MaxParallel is how many Installations have a job at once: 10 by default.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxParallel int32 `json:"maxParallel,omitempty"`
	// MaxNotReady is how many Installations of the wave may have failed before Rollout.OnFailure counts;
	// none by default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxNotReady int32 `json:"maxNotReady,omitempty"`
	// Soak is how long the wave has to be ready before the next one begins.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(h|m|s))+$`
	Soak string `json:"soak,omitempty"`
	// Gates have to be open before the next wave begins.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Gates []Gate `json:"gates,omitempty"`
}

// Gate has to be open before the next wave begins.
//
// +kubebuilder:validation:XValidation:rule="[has(self.expression), has(self.url), has(self.promotion)].filter(x, x).size() == 1",message="write one of expression, url and promotion"
type Gate struct {
	// Name tells gates apart.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Expression is CEL that has to be true for each Installation of the wave, which is the variable
	// installation (metadata, spec and status); exports has the values of its exports.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression,omitempty"`
	// URL has to answer a GET with a status from 200 to 299.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url,omitempty"`
	// Promotion opens the gate when a user promotes the wave ("landscaper-cli fleet promote").
	// +optional
	Promotion bool `json:"promotion,omitempty"`
}

// WaveState says how far a wave is.
type WaveState string

const (
	// WaveWaiting has not begun.
	WaveWaiting WaveState = "Waiting"
	// WaveRunning has Installations to change.
	WaveRunning WaveState = "Running"
	// WaveSoaking is ready, and waits for its time.
	WaveSoaking WaveState = "Soaking"
	// WaveGated is ready, and a gate is closed.
	WaveGated WaveState = "Gated"
	// WaveStopped has failed.
	WaveStopped WaveState = "Stopped"
	// WaveGoingBack has failed, and brings Installations back.
	WaveGoingBack WaveState = "GoingBack"
	// WaveDone is at its end.
	WaveDone WaveState = "Done"
)

// FleetStatus says how far a Fleet is.
type FleetStatus struct {
	// ObservedGeneration is the generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the current observations.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Revision is the name of the ControllerRevision that is rolled out.
	// +optional
	Revision string `json:"revision,omitempty"`
	// LastRevision is the one that all Targets had last.
	// +optional
	LastRevision string `json:"lastRevision,omitempty"`
	// Version is the version of the component in that revision.
	// +optional
	Version string `json:"version,omitempty"`
	// Wave is the name of the present wave; empty at the end.
	// +optional
	Wave string `json:"wave,omitempty"`
	// Waves says how far each of them is.
	// +optional
	// +listType=map
	// +listMapKey=name
	Waves []WaveStatus `json:"waves,omitempty"`
	// Counts are those of all waves together.
	// +optional
	Counts FleetCounts `json:"counts,omitempty"`
	// Departed is how many Installations of the Fleet have no Target any more that it selects.
	// +optional
	Departed int32 `json:"departed,omitempty"`
}

// FleetCounts count Targets and their Installations.
type FleetCounts struct {
	// Targets are selected.
	// +optional
	Targets int32 `json:"targets"`
	// Updated have the specification that is wanted.
	// +optional
	Updated int32 `json:"updated"`
	// Succeeded have it, and their job has succeeded.
	// +optional
	Succeeded int32 `json:"succeeded"`
	// Running have it, and their job has not ended.
	// +optional
	Running int32 `json:"running,omitempty"`
	// Failed have it, and their job has failed.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// Blocked cannot get it: their Installation belongs to others, or they lack a value.
	// +optional
	Blocked int32 `json:"blocked,omitempty"`
}

// WaveStatus says how far a wave is.
type WaveStatus struct {
	// Name is the name of the wave.
	// +required
	Name string `json:"name"`
	// State is how far it is.
	// +required
	State WaveState `json:"state"`
	// Counts are those of the wave.
	// +optional
	Counts FleetCounts `json:"counts,omitempty"`
	// Since is when the state began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Message says what it waits for, with some names.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
