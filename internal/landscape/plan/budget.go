package plan

import (
	"errors"
	"fmt"

	"go.landscaper.dev/internal/model/dataflow"
)

// Bounds of a tree of Installations. Blueprints may refer to each other in a cycle, contain
// themselves twice, or pass one large import to a thousand children: all of that is written in a
// few lines.
const (
	// MaxDepth is how deep subinstallations may be nested.
	MaxDepth = 32
	// MaxChildren is how many subinstallations one Installation may have, MaxTree how
	// many Installations there may be in a tree.
	MaxChildren = 1_000
	MaxTree     = 5_000
	// MaxCopies is how many copies of imports there may be in a tree, MaxCopied how
	// many bytes they may have together.
	MaxCopies = 50_000
	MaxCopied = 256 << 20
)

// ErrTree is behind errors about a tree that is larger than it may be. It lies in the
// blueprints, so that it is final.
var ErrTree = errors.New("the tree of Installations is too large")

// Usage is where an Installation is in its tree, and what the Installations of the tree
// have taken so far, the one that is looked at not included. Zero is a root, or a tree
// of which nothing is known yet.
//
// It is counted in memory by the controller, so that it bounds mistakes and malice without being
// exact: two Installations that are planned at the same moment do not see each other's use.
type Usage struct {
	// Depth is how far the Installation is below the root.
	Depth int
	// Installations are all of the tree, Copies and Bytes those of their imports.
	Installations, Copies, Bytes int
}

// Taken is what one Installation takes: so many subinstallations, and the copies of its
// imports.
func Taken(subinstallations int, copies dataflow.Exports) Usage {
	return Usage{Installations: subinstallations}.add(copies)
}

// Plus adds what others have taken. The depth stays.
func (u Usage) Plus(other Usage) Usage {
	return Usage{u.Depth, u.Installations + other.Installations, u.Copies + other.Copies, u.Bytes + other.Bytes}
}

// Minus is the opposite of Plus.
func (u Usage) Minus(other Usage) Usage {
	return Usage{u.Depth, u.Installations - other.Installations, u.Copies - other.Copies, u.Bytes - other.Bytes}
}

// checkChildren checks that an Installation may have so many subinstallations.
func (u Usage) checkChildren(count int) error {
	switch {
	case count == 0:
		return nil
	case u.Depth >= MaxDepth:
		return fmt.Errorf("%w: subinstallations are nested more than %d levels deep: a blueprint seems to contain itself", ErrTree, MaxDepth)
	case count > MaxChildren:
		return fmt.Errorf("%w: there are %d subinstallations, at most %d are allowed: put some of them into a subinstallation of their own", ErrTree, count, MaxChildren)
	case u.Installations+count > MaxTree:
		return fmt.Errorf("%w: there are more than %d subinstallations: a blueprint seems to contain itself, otherwise distribute them over several roots", ErrTree, MaxTree)
	}
	return nil
}

// add counts copies of imports.
func (u Usage) add(copies dataflow.Exports) Usage {
	u.Copies += len(copies.DataObjects) + len(copies.Targets)
	for _, object := range copies.DataObjects {
		u.Bytes += len(object.Data.RawMessage)
	}
	for _, secret := range copies.Secrets {
		for _, value := range secret.Data {
			u.Bytes += len(value)
		}
	}
	for _, target := range copies.Targets {
		u.Bytes += dataflow.TargetSize(target)
	}
	return u
}

// check checks the copies.
func (u Usage) check() error {
	switch {
	case u.Copies > MaxCopies:
		return fmt.Errorf("%w: its imports have more than %d copies: pass fewer values to subinstallations", ErrTree, MaxCopies)
	case u.Bytes > MaxCopied:
		return fmt.Errorf("%w: the copies of its imports have more than %d bytes: pass fewer or smaller values to subinstallations", ErrTree, MaxCopied)
	}
	return nil
}
