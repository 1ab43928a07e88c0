package deployer

// ClusterRecord says on which clusters the recorded objects of an item are. It stands
// beside managedResources in provider statuses; other implementations ignore it.
type ClusterRecord struct {
	// Cluster is where the managedResources are. A status without it is about the
	// cluster of the item's Target.
	// +optional
	Cluster *ClusterIdentity `json:"cluster,omitempty"`
	// EarlierClusters are clusters to which the Target of the item led before, with what
	// is still to be removed there.
	// +optional
	EarlierClusters []EarlierCluster `json:"earlierClusters,omitempty"`
}

// ClusterIdentity tells clusters apart. It holds no credentials.
type ClusterIdentity struct {
	// ID is the UID of Namespace kube-system. It is empty if the credentials do not allow
	// to read it.
	// +optional
	ID string `json:"id,omitempty"`
	// Address identifies the address and the certificate authority of the API server; it
	// is a hash.
	// +optional
	Address string `json:"address,omitempty"`
	// Server is the address of the API server.
	// +optional
	Server string `json:"server,omitempty"`
	// Target is the name of the Target that led to the cluster last.
	// +optional
	Target string `json:"target,omitempty"`
}

// EarlierCluster is a cluster on which something is left of an item whose Target leads to
// another one now.
type EarlierCluster struct {
	ClusterIdentity `json:",inline"`
	// Release is the release of Helm on that cluster, if there may be one.
	// +optional
	Release *ReleaseReference `json:"release,omitempty"`
	// ManagedResources are the objects that were deployed there.
	// +optional
	ManagedResources ManagedResourceStatusList `json:"managedResources,omitempty"`
}

// ReleaseReference names a release of Helm.
type ReleaseReference struct {
	// +required
	Name string `json:"name"`
	// +required
	Namespace string `json:"namespace"`
}

// Key is how people name the cluster where a name must be unique.
func (c ClusterIdentity) Key() string {
	if c.ID != "" {
		return c.ID
	}
	return c.Address
}
