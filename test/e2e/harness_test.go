// Package e2e holds whole scenarios: the real server program against real API
// servers.
package e2e

import (
	"os"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

const (
	serverUser = scenario.ServerUser
	waitLimit  = scenario.WaitLimit

	onCluster    = scenario.OnCluster
	singleImport = scenario.SingleImport
	listImport   = scenario.ListImport
)

// env is the lab that all scenarios share. Its registry has authentication and TLS.
var env = &scenario.World{}

// The words of scenarios.
var (
	oneConfigMap    = landscape.OneConfigMap
	newInstallation = landscape.NewInstallation
	configMap       = scenario.ConfigMap
	startServer     = scenario.StartServer
	launchServer    = scenario.LaunchServer
	waitGone        = scenario.WaitGone
	note            = scenario.Note
	blueprintOf     = scenario.BlueprintOf
	withSubs        = scenario.WithSubs
	textOf          = scenario.TextOf
	subOf           = scenario.SubOf
	rootOf          = scenario.RootOf
	installationOf  = scenario.InstallationOf
	itemsOn         = scenario.ItemsOn
	clustersOf      = scenario.ClustersOf
	idOf            = scenario.IDOf
	packed          = scenario.Packed
	greeter         = scenario.Greeter
	decode          = scenario.Decode

	namespace         = env.Namespace
	createTarget      = env.CreateTarget
	create            = env.Create
	registryServer    = env.StartRegistryServer
	createAll         = env.CreateAll
	repositoryContext = scenario.RepositoryContext
	getInstallation   = env.Installation
	itemsByName       = env.ItemsByName
	request           = env.Request
	annotate          = env.Annotate
	waitFor           = env.WaitFor
	waitFinished      = env.WaitFinished
	waitSucceeded     = env.WaitSucceeded
	waitItem          = env.WaitItem
	waitNone          = env.WaitNone
	waitForContext    = env.WaitForContext
	wantNoRequests    = env.WantNoRequests
	again             = env.Again
	waitDone          = env.WaitDone
	cli               = env.CLI
	planned           = env.Planned
)

func TestMain(m *testing.M) {
	os.Exit(env.Main(m, lab.Options{With: []string{"registry-auth", "registry-tls", "issuer=resource", "kwok=target"}, KwokNodes: 1}))
}
