// Package resilience holds scenarios of servers whose surroundings fail or are hostile: requests, caches,
// clusters and registries, and the server itself when it is killed.
package resilience

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

	singleImport = scenario.SingleImport
)

// env is the lab that all scenarios share. Its registry has authentication and TLS.
var env = &scenario.World{}

// The words of scenarios.
var (
	oneConfigMap    = landscape.OneConfigMap
	newInstallation = landscape.NewInstallation
	configMap       = scenario.ConfigMap
	startServer     = scenario.StartServer
	waitGone        = scenario.WaitGone
	blueprintOf     = scenario.BlueprintOf
	withSubs        = scenario.WithSubs
	subOf           = scenario.SubOf
	rootOf          = scenario.RootOf
	installationOf  = scenario.InstallationOf
	itemsOn         = scenario.ItemsOn
	yamlItem        = scenario.YAMLItem
	packed          = scenario.Packed

	namespace         = env.Namespace
	createTarget      = env.CreateTarget
	create            = env.Create
	createAll         = env.CreateAll
	repositoryContext = scenario.RepositoryContext
	registryServer    = env.StartRegistryServer
	itemsByName       = env.ItemsByName
	request           = env.Request
	waitFor           = env.WaitFor
	waitFinished      = env.WaitFinished
	waitSucceeded     = env.WaitSucceeded
	waitForContext    = env.WaitForContext
)

func TestMain(m *testing.M) {
	os.Exit(env.Main(m, lab.Options{With: []string{"registry-auth", "registry-tls", "kwok=target"}, KwokNodes: 1}))
}
