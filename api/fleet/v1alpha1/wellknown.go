package v1alpha1

const (
	// FleetLabel on an Installation is the name of its Fleet.
	FleetLabel = GroupName + "/fleet"
	// TargetLabel on an Installation of a Fleet is the name of its Target, shortened to 63 characters.
	TargetLabel = GroupName + "/target"
	// FleetUIDAnnotation on an Installation is the UID of its Fleet.
	FleetUIDAnnotation = GroupName + "/fleet-uid"
	// RevisionAnnotation on an Installation is the revision of the Fleet that it has.
	RevisionAnnotation = GroupName + "/revision"
	// ChannelAnnotation on an Installation without a Fleet is the name of the Channel that it follows.
	ChannelAnnotation = GroupName + "/channel"
	// PromotedAnnotation on a Fleet is the revision and the wave, separated by a slash, whose promotion a
	// user has asked for.
	PromotedAnnotation = GroupName + "/promoted"
	// AllowRemovalAnnotation on a Fleet is how many Installations may be removed at once, once.
	AllowRemovalAnnotation = GroupName + "/allow-removal"
)
