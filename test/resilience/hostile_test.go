package resilience

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/hostile"
	"go.landscaper.dev/test/landscape"
)

const (
	// neighbours is the number of honest Installations, in tenants namespaces.
	neighbours, tenants = 100, 5
	// memoryLimit is what the server has; memoryEnd is where the test ends it before it
	// harms the machine.
	memoryLimit, memoryEnd = 512 << 20, 1 << 30
	// The neighbours may take slowdown times as long as without the hostile tenant, and
	// slack more: the hostile servers work on the same machine.
	slowdown, slack = 4, 20 * time.Second
	// reached is how many hostile servers have been called when the neighbours come, and
	// untilAll how long it may take until all have.
	reached, untilAll = 8, 5 * time.Minute
	// runLabel marks the Installations of one run.
	runLabel = "test.landscaper.dev/run"
)

// TestHostileNeighbours shows that one tenant with every kind of hostile cluster and
// registry neither stops nor reads the others.
func TestHostileNeighbours(t *testing.T) {
	world, err := hostile.NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	server := hostileServer(t, world)
	usual, err := bringUpNeighbours(t, server, "usual", 2*waitLimit)
	if err != nil {
		t.Fatal(err)
	}
	space, servers := attack(t, world)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if err := world.AwaitReached(ctx, reached); err != nil {
		t.Error(err)
	}
	limit := slowdown*usual + slack
	beside, err := bringUpNeighbours(t, server, "beside", limit)
	if err != nil {
		t.Errorf("%v; without the hostile tenant they took %s", err, usual)
	}
	// The attack continues: jobs that waited beside the others run now.
	ctx, cancel = context.WithTimeout(t.Context(), untilAll)
	defer cancel()
	if err := world.AwaitReached(ctx, len(servers)-reached); err != nil {
		t.Error(err)
	}
	peak, err := server.PeakMemory()
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d neighbours: %.1f s, beside a hostile tenant %.1f s; peak memory %d MiB", neighbours, usual.Seconds(), beside.Seconds(), peak>>20)
	if peak > memoryLimit {
		t.Errorf("the server took %d MiB, its limit is %d MiB", peak>>20, memoryLimit>>20)
	}
	for _, server := range servers {
		t.Logf("%-32s %4d requests %6d KiB", server.Way.Name, server.Requests(), server.Sent()>>10)
	}
	if _, betrayed := world.Witnessed(); betrayed > 0 {
		t.Errorf("credentials followed a redirect to another host %d times", betrayed)
	}
	scan(t, server, space)
	abandon(t, space)
}

// abandon removes the objects that a server would work on in the tests that follow.
func abandon(t *testing.T, space string) {
	t.Helper()
	release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	for _, kind := range []string{"Installation", "Execution", "DeployItem"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: list.Items[i].Name}}
			object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
			err := errors.Join(client.IgnoreNotFound(env.Admin.Delete(t.Context(), object)), client.IgnoreNotFound(env.Admin.Patch(t.Context(), object, release)))
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// hostileServer starts a server with little memory that trusts the hostile servers'
// certificates: what they do must not depend on that.
func hostileServer(t *testing.T, world *hostile.World) *landscape.Server {
	t.Helper()
	directory := t.TempDir()
	authority, config := filepath.Join(directory, "ca.pem"), filepath.Join(directory, "config.yaml")
	text := fmt.Sprintf("kind: LandscaperConfiguration\nregistry: {oci: {certificateAuthorities: %s}}\n", authority)
	for file, content := range map[string][]byte{authority: world.CA, config: []byte(text)} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := landscape.Run(t, landscape.Options{
		Kubeconfig: env.ServerKubeconfig, Args: []string{"--config", config},
		Env: []string{fmt.Sprintf("GOMEMLIMIT=%d", memoryLimit*3/4)},
	})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go endAtLimit(ctx, server)
	return server
}

// endAtLimit keeps the machine alive.
func endAtLimit(ctx context.Context, server *landscape.Server) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-server.Ended():
			return
		case <-tick.C:
			if memory, err := server.Memory(); err == nil && memory > memoryEnd {
				_ = server.Kill()
				return
			}
		}
	}
}

// bringUpNeighbours creates honest Installations in several namespaces at once and
// returns how long it took until all had succeeded.
func bringUpNeighbours(t *testing.T, server *landscape.Server, run string, limit time.Duration) (time.Duration, error) {
	t.Helper()
	var all []*v1alpha1.Installation
	for range tenants {
		space := namespace(t)
		if len(all) == 0 {
			// The lab may have Installations of another run.
			run += "-" + space
		}
		for i := range neighbours / tenants {
			inst := newInstallation(space, fmt.Sprintf("unit-%d", i), oneConfigMap)
			inst.Labels = map[string]string{runLabel: run}
			all = append(all, inst)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	look := func() (watch.Interface, error) {
		return env.Admin.Watch(ctx, &v1alpha1.InstallationList{}, client.MatchingLabels{runLabel: run})
	}
	events, err := look()
	if err != nil {
		return 0, err
	}
	defer func() { events.Stop() }()
	began := time.Now()
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, inst := range all {
		group.Go(func() error { return env.Admin.Create(creating, inst) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	finished := map[client.ObjectKey]bool{}
	for len(finished) < len(all) {
		select {
		case event, open := <-events.ResultChan():
			inst, ok := event.Object.(*v1alpha1.Installation)
			if (!open || !ok) && ctx.Err() == nil {
				// The API server ends a watch whose reader is too slow for it. The next one begins with all
				// objects.
				events.Stop()
				next, err := look()
				if err != nil {
					return time.Since(began), err
				}
				events = next
				continue
			}
			if !open || !ok {
				return time.Since(began), fmt.Errorf("%d of %d neighbours have succeeded after %s", len(finished), len(all), time.Since(began).Round(time.Second))
			}
			if inst.Status.JobID == "" || inst.Status.JobIDFinished != inst.Status.JobID {
				continue
			}
			if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
				return time.Since(began), fmt.Errorf("neighbour %s: %+v", client.ObjectKeyFromObject(inst), inst.Status.LastError)
			}
			finished[client.ObjectKeyFromObject(inst)] = true
		case <-server.Ended():
			return time.Since(began), errors.New("the server has ended, or took so much memory that the test ended it")
		}
	}
	return time.Since(began), nil
}

// oneDeployment is like oneConfigMap, but what it deploys is watched until it is ready.
var oneDeployment = strings.NewReplacer(
	"apiVersion: v1", "apiVersion: apps/v1", "kind: ConfigMap", "kind: Deployment", "name: NAME,", "name: workload,", "data: {greeting: hello}", "spec: {replicas: 1}",
).Replace(oneConfigMap)

// attack is one tenant with an Installation for each way to misbehave.
func attack(t *testing.T, world *hostile.World) (space string, servers []*hostile.Server) {
	t.Helper()
	space = namespace(t)
	for _, way := range hostile.Targets() {
		server := start(t, world, way)
		servers = append(servers, server)
		createTarget(t, space, way.Name, server.Kubeconfig())
		inst := newInstallation(space, "target-"+way.Name, oneDeployment)
		inst.Spec.Imports.Targets[0].Target = way.Name
		create(t, inst)
	}
	for _, way := range hostile.Registries() {
		server := start(t, world, way)
		servers = append(servers, server)
		inst := hostileRegistry(t, space, way.Name, server)
		create(t, inst)
	}
	return space, servers
}

func start(t *testing.T, world *hostile.World, way hostile.Way) *hostile.Server {
	t.Helper()
	server, err := world.Start(way)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// hostileRegistry makes a Context with a registry and credentials for it, and returns an
// Installation whose blueprint is to come from there.
func hostileRegistry(t *testing.T, space, name string, server *hostile.Server) *v1alpha1.Installation {
	t.Helper()
	login := base64.StdEncoding.EncodeToString([]byte("user:" + hostile.Canary))
	createAll(t,
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "pull-" + name}, Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, server.Address, login)},
		},
		&v1alpha1.Context{
			ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name},
			ContextConfiguration: v1alpha1.ContextConfiguration{
				RepositoryContext:   repositoryContext(t, server.Address),
				RegistryPullSecrets: []v1alpha1.LocalPullSecret{{Name: "pull-" + name}},
			},
		})
	inst := newInstallation(space, "registry-"+name, oneConfigMap)
	inst.Spec.Context = name
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/a", Version: "1.0.0"}}
	inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Reference: &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}}
	return inst
}

// scan looks for what hostile servers and credentials say, where others may read it.
func scan(t *testing.T, server *landscape.Server, space string) {
	t.Helper()
	installations, executions := &v1alpha1.InstallationList{}, &v1alpha1.ExecutionList{}
	items, events := &v1alpha1.DeployItemList{}, &eventsv1.EventList{}
	for _, list := range []client.ObjectList{installations, executions, items, events} {
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
	}
	said := map[string]any{}
	for _, inst := range installations.Items {
		said["Installation "+inst.Name] = inst.Status
	}
	for _, execution := range executions.Items {
		said["Execution "+execution.Name] = execution.Status
	}
	for _, item := range items.Items {
		said["DeployItem "+item.Name] = item.Status
	}
	for _, event := range events.Items {
		said["Event "+event.Regarding.Name+" "+event.Name] = event.Note
	}
	for _, line := range strings.Split(server.Output(), "\n") {
		if strings.Contains(line, hostile.Canary) {
			t.Errorf("the server's log has the canary: %.300s", line)
		}
	}
	for where, what := range said {
		text, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), hostile.Canary) {
			t.Errorf("%s has the canary: %.600s", where, text)
		}
	}
}
