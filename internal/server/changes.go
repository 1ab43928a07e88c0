package server

import (
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/runtime/changetally"
)

// changes counts what jobs change on clusters, for their records.
type changes struct{ tally *changetally.Tally }

// newChanges returns nil where another process has one of the deployers: its part would be missing.
func newChanges(config *Config) *changes {
	for _, name := range []string{Installations, Manifests, Charts, Kustomizations} {
		if !config.runs(name) {
			return nil
		}
	}
	return &changes{changetally.New()}
}

// installations is what records the numbers.
func (c *changes) installations() installation.ChangeTally {
	if c == nil {
		return nil
	}
	return c.tally
}

// deployers is what notes the changes.
func (c *changes) deployers() deployer.Changes {
	if c == nil {
		return nil
	}
	return c
}

// noted are the changes that deployers note, as the tally calls them.
var noted = map[deployer.Change]uint8{
	deployer.ObjectCreated: changetally.Created, deployer.ObjectChanged: changetally.Changed, deployer.ObjectDeleted: changetally.Deleted,
}

// Note implements deployer.Changes.
func (c *changes) Note(jobID string, change deployer.Change, object string) {
	c.tally.Note(jobID, noted[change], object)
}
