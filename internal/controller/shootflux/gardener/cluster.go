package gardener

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// GenericKubeconfigAnnotation of a Cluster has the name of the Secret with the address of the
// shoot.
const GenericKubeconfigAnnotation = "generic-token-kubeconfig.secret.gardener.cloud/name"

// ReferencePrefix is the prefix of the names of copies of a shoot's resources.
const ReferencePrefix = "ref-"

// Cluster describes the shoot of a namespace for extensions.
//
// +kubebuilder:object:root=true
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ClusterSpec `json:"spec"`
}

// ClusterSpec has copies of objects of the garden.
type ClusterSpec struct {
	Shoot runtime.RawExtension `json:"shoot"`
}

// ClusterList is a list of Clusters.
//
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cluster `json:"items"`
}

// Shoot has the fields of a Shoot that this repository uses.
//
// +kubebuilder:object:generate=false
type Shoot struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Hibernation *struct {
			Enabled *bool `json:"enabled,omitempty"`
		} `json:"hibernation,omitempty"`
		Resources []NamedResource `json:"resources,omitempty"`
	} `json:"spec"`
	Status struct {
		TechnicalID        string         `json:"technicalID,omitempty"`
		ClusterIdentity    *string        `json:"clusterIdentity,omitempty"`
		ObservedGeneration int64          `json:"observedGeneration,omitempty"`
		LastOperation      *LastOperation `json:"lastOperation,omitempty"`
	} `json:"status,omitempty"`
}

// DecodeShoot reads the shoot of a Cluster.
func (c *Cluster) DecodeShoot() (*Shoot, error) {
	if len(c.Spec.Shoot.Raw) == 0 {
		return nil, fmt.Errorf("the Cluster %s has no shoot: wait for gardenlet to write it", c.Name)
	}
	shoot := &Shoot{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(c.Spec.Shoot.Raw, shoot); err != nil {
		// The reason is dropped on purpose: it may quote the text.
		return nil, errors.New("the shoot of the Cluster " + c.Name + " cannot be decoded: a newer gardenlet may have written it")
	}
	return shoot, nil
}

// HasFailed says that Gardener does not retry the shoot before it is changed.
func (s *Shoot) HasFailed() bool {
	last := s.Status.LastOperation
	return last != nil && last.State == Failed && s.Status.ObservedGeneration == s.Generation
}

// Hibernates says that the shoot has no API server, or is about to lose it.
func (s *Shoot) Hibernates() bool {
	return s.Spec.Hibernation != nil && s.Spec.Hibernation.Enabled != nil && *s.Spec.Hibernation.Enabled
}

// Resource returns the shoot's resource with a name and one of these kinds.
func (s *Shoot) Resource(name string, kinds ...string) (CrossReference, bool) {
	for _, resource := range s.Spec.Resources {
		for _, kind := range kinds {
			if resource.Name == name && resource.ResourceRef.Kind == kind {
				return resource.ResourceRef, true
			}
		}
	}
	return CrossReference{}, false
}
