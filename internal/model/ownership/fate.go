package ownership

// Fate is what becomes of an object that its DeployItem does not want any more.
type Fate string

const (
	// Forget means that the object does not exist any more.
	Forget Fate = "forget"
	// Spare means that the object belongs to another owner by now.
	Spare Fate = "spare"
	// Inherit means that another DeployItem becomes the owner.
	Inherit Fate = "inherit"
	// Bequeath means that another DeployItem becomes the owner although it does not want the object: it
	// has something in it, and removes the object when no item has.
	Bequeath Fate = "bequeath"
	// Leave means that the object stays without an owner: another DeployItem expects it to exist.
	Leave Fate = "leave"
	// Keep means that the object is released and kept until the end of the job: it is not known yet
	// which objects others want.
	Keep Fate = "keep"
	// Remove means that the object is deleted.
	Remove Fate = "remove"
)

// Situation is what the fate of an object depends on.
type Situation struct {
	// Exists says that the object exists, and Mine that its marks name the item as owner.
	Exists, Mine bool
	// Heir says that another item lists the object.
	Heir bool
	// Expected says that another item expects the object to exist.
	Expected bool
	// Open says that other items which are still at work may want it.
	Open bool
}

// Decide decides what becomes of an object. The owner comes first: an item never transfers or
// removes the object of another owner.
func Decide(s Situation) Fate {
	switch {
	case !s.Exists:
		return Forget
	case !s.Mine:
		return Spare
	case s.Heir:
		return Inherit
	case s.Open:
		return Keep
	case s.Expected:
		return Leave
	}
	return Remove
}
