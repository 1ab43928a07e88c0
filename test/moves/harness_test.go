// Package moves holds scenarios of what users move, rename and switch: objects between items,
// items between Installations, trees and releases to other names, Targets to other clusters.
package moves

import (
	"os"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

const (
	onCluster    = scenario.OnCluster
	singleImport = scenario.SingleImport
	listImport   = scenario.ListImport
)

// env is the lab that all scenarios share.
var env = &scenario.World{}

// The words of scenarios.
var (
	newInstallation = landscape.NewInstallation
	configMap       = scenario.ConfigMap
	startServer     = scenario.StartServer
	waitGone        = scenario.WaitGone
	note            = scenario.Note
	blueprintOf     = scenario.BlueprintOf
	withSubs        = scenario.WithSubs
	textOf          = scenario.TextOf
	subOf           = scenario.SubOf
	rootOf          = scenario.RootOf
	installationOf  = scenario.InstallationOf
	itemsOn         = scenario.ItemsOn
	yamlItem        = scenario.YAMLItem
	clustersOf      = scenario.ClustersOf
	idOf            = scenario.IDOf
	packed          = scenario.Packed
	greeter         = scenario.Greeter

	namespace       = env.Namespace
	createTarget    = env.CreateTarget
	create          = env.Create
	getInstallation = env.Installation
	itemsByName     = env.ItemsByName
	request         = env.Request
	waitFinished    = env.WaitFinished
	waitSucceeded   = env.WaitSucceeded
	waitItem        = env.WaitItem
	again           = env.Again
	waitDone        = env.WaitDone
	cli             = env.CLI
	planned         = env.Planned
)

func TestMain(m *testing.M) {
	os.Exit(env.Main(m, lab.Options{With: []string{"kwok=target"}, KwokNodes: 1}))
}
