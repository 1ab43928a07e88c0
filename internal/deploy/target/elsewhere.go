package target

// elsewhere is the cluster of another Target than that of the item.
type elsewhere struct {
	Cluster
	name string
}

// Elsewhere returns the cluster of another Target than that of an item, which messages about its
// objects name: a reader would take them for objects on the item's own cluster.
func Elsewhere(cluster Cluster, targetName string) Cluster { return elsewhere{cluster, targetName} }

// Place says behind the name of an object on which cluster that is; nothing for the
// cluster of the item.
func Place(cluster Cluster) string {
	if other, ok := cluster.(elsewhere); ok {
		return " on Target " + other.name
	}
	return ""
}
