package v1alpha1

const (
	// FleetLabel on an Installation is the name of its Fleet.
	FleetLabel = GroupName + "/fleet"
	// TargetLabel on an Installation of a Fleet is the name of its Target, shortened to 63 characters.
	TargetLabel = GroupName + "/target"
	// WaveLabel on an Installation of a Fleet is the wave in which it was changed last. It stays in that
	// wave while the Fleet grows.
	WaveLabel = GroupName + "/wave"
	// FleetUIDAnnotation on an Installation is the UID of its Fleet.
	FleetUIDAnnotation = GroupName + "/fleet-uid"
	// RevisionAnnotation on an Installation is the revision of the Fleet that it has.
	RevisionAnnotation = GroupName + "/revision"
	// AppliedAnnotation on an Installation is the digest of what its Fleet has written last. Without it, the
	// Fleet writes again, whatever the Installation has.
	AppliedAnnotation = GroupName + "/applied"
	// WentBackFromAnnotation on an Installation is the digest of what has failed, and is not written again.
	WentBackFromAnnotation = GroupName + "/went-back-from"
	// DepartedAnnotation on an Installation is since when its Fleet does not select its Target.
	DepartedAnnotation = GroupName + "/departed"
	// ChannelAnnotation on an Installation without a Fleet is the name of the Channel that it follows.
	ChannelAnnotation = GroupName + "/channel"
	// PromotedAnnotation on a Fleet is the revision and the wave, separated by a slash, whose promotion a
	// user has asked for.
	PromotedAnnotation = GroupName + "/promoted"
	// AllowRemovalAnnotation on a Fleet is how many Installations without a Target may be removed, whatever
	// spec.removal.maxPercent says. The server removes it when none is left.
	AllowRemovalAnnotation = GroupName + "/allow-removal"
	// FleetFinalizer keeps a Fleet until its Installations are released or deleted.
	FleetFinalizer = "finalizer." + GroupName
)

// TargetsPresentCondition of a Fleet says whether each of its Installations has a Target that it selects.
const TargetsPresentCondition = "TargetsPresent"
