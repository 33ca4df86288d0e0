package deploy

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// cluster is what deploy/kubernetes holds, and what is wrong with it.
type cluster struct {
	files      tree
	migrate    batchv1.Job
	worker     appsv1.Deployment
	budget     policyv1.PodDisruptionBudget
	image      *image
	reads      map[string]bool
	complaints []string
}

func (c *cluster) say(format string, args ...any) {
	c.complaints = append(c.complaints, "deploy/kubernetes: "+fmt.Sprintf(format, args...))
}

// readCluster decodes each object into its type. A field that the type does not have is a complaint.
func readCluster(files tree) *cluster {
	c := &cluster{files: files}
	seen := map[string]bool{}
	for _, file := range slices.Sorted(slices.Values(files.under("deploy/kubernetes", ""))) {
		for _, text := range strings.Split(files[file], "\n---\n") {
			var kind metav1.TypeMeta
			if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
				c.say("%s: %v", file, err)
				continue
			}
			name := kind.APIVersion + " " + kind.Kind
			into := map[string]any{"batch/v1 Job": &c.migrate, "apps/v1 Deployment": &c.worker, "policy/v1 PodDisruptionBudget": &c.budget}[name]
			if into == nil || seen[name] {
				c.say("%s: %s is unknown here, or there twice", file, name)
				continue
			}
			seen[name] = true
			// The server's own decoder: the one of the standard library takes fields whose letters differ in
			// size.
			asJSON, err := yaml.YAMLToJSONStrict([]byte(text))
			var strict []error
			if err == nil {
				strict, err = json.UnmarshalStrict(asJSON, into)
			}
			if err = errors.Join(append(strict, err)...); err != nil {
				c.say("%s: %s: %v", file, name, err)
			}
		}
	}
	if len(seen) != 3 {
		c.say("there are only %v", slices.Sorted(maps.Keys(seen)))
	}
	return c
}

func checkCluster(files tree, reads map[string]bool) []string {
	c := readCluster(files)
	c.reads, c.image = reads, parseImage(files, "deploy/Dockerfile")
	for name, pod := range map[string]corev1.PodSpec{"migrate": c.migrate.Spec.Template.Spec, "worker": c.worker.Spec.Template.Spec} {
		if len(pod.Containers) != 1 {
			c.say("%s has %d containers", name, len(pod.Containers))
			return c.complaints
		}
		c.checkRights(name, pod)
		c.checkContainer(name, pod)
	}
	if c.migrate.Spec.Template.Spec.Containers[0].Image != c.worker.Spec.Template.Spec.Containers[0].Image {
		c.say("migrate and worker are not the same image")
	}
	c.checkWorker()
	return c.complaints
}

func is[T comparable](p *T, want T) bool { return p != nil && *p == want }

// checkRights: a pod may do nothing that it does not need.
func (c *cluster) checkRights(name string, pod corev1.PodSpec) {
	want := func(ok bool, what string) {
		if !ok {
			c.say("%s: %s", name, what)
		}
	}
	s, own := pod.SecurityContext, pod.Containers[0].SecurityContext
	if s == nil || own == nil {
		c.say("%s has no securityContext", name)
		return
	}
	want(is(s.RunAsNonRoot, true), "runAsNonRoot is not true")
	want(s.RunAsUser != nil && s.RunAsGroup != nil && fmt.Sprintf("%d:%d", *s.RunAsUser, *s.RunAsGroup) == c.image.user, "it does not run as the image's user "+c.image.user)
	want(s.SeccompProfile != nil && s.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault, "the seccompProfile is not RuntimeDefault")
	want(is(own.ReadOnlyRootFilesystem, true), "readOnlyRootFilesystem is not true")
	want(is(own.AllowPrivilegeEscalation, false), "allowPrivilegeEscalation is not false")
	want(own.Capabilities != nil && slices.Equal(own.Capabilities.Drop, []corev1.Capability{"ALL"}) && len(own.Capabilities.Add) == 0, "it has capabilities")
	want(own.Privileged == nil && own.RunAsNonRoot == nil && own.RunAsUser == nil && own.SeccompProfile == nil, "the container's securityContext says otherwise than the pod's")
	want(!pod.HostNetwork && !pod.HostPID && !pod.HostIPC, "it shares the host's namespaces")
	want(is(pod.AutomountServiceAccountToken, false), "it gets a token of the cluster")
}

func (c *cluster) checkContainer(name string, pod corev1.PodSpec) {
	one := pod.Containers[0]
	if program, _, _ := strings.Cut(path.Base(one.Image), ":"); program != path.Base(c.image.program) || !pinned.MatchString(one.Image) {
		c.say("%s: the image %s is not %s with a version", name, one.Image, path.Base(c.image.program))
	}
	if len(one.Command) > 0 {
		c.say("%s: the command replaces the image's entry point", name)
	}
	secrets := map[string]bool{}
	for _, env := range one.Env {
		if !c.reads[env.Name] {
			c.say("%s gets %s, which it does not read", name, env.Name)
		}
		from := env.ValueFrom
		secrets[env.Name] = from != nil && from.SecretKeyRef != nil && from.SecretKeyRef.Name != "" && from.SecretKeyRef.Key != "" && env.Value == ""
		if secret.MatchString(env.Name) && !secrets[env.Name] {
			c.say("%s: %s is of no secret", name, env.Name)
		}
	}
	if !secrets["ONEROW_DSN"] {
		c.say("%s has no DSN", name)
	}
	r := one.Resources
	if r.Requests.Cpu().IsZero() || r.Requests.Memory().IsZero() || r.Limits.Memory().IsZero() || r.Requests.Memory().Cmp(*r.Limits.Memory()) > 0 {
		c.say("%s: resources are missing, or more is asked for than allowed", name)
	}
}

// checkWorker: what belongs together in the Deployment and its budget fits.
func (c *cluster) checkWorker() {
	labels := c.worker.Spec.Template.Labels
	for name, selector := range map[string]*metav1.LabelSelector{"deployment": c.worker.Spec.Selector, "budget": c.budget.Spec.Selector} {
		if selector == nil || len(selector.MatchLabels) == 0 || !maps.Equal(selector.MatchLabels, labels) {
			c.say("the selector of the %s does not find the pods", name)
		}
	}
	if c.worker.Spec.Replicas == nil || *c.worker.Spec.Replicas < 2 || c.budget.Spec.MaxUnavailable == nil || c.budget.Spec.MaxUnavailable.IntValue() >= int(*c.worker.Spec.Replicas) {
		c.say("the budget does not leave a worker")
	}
	pod := c.worker.Spec.Template.Spec
	one := pod.Containers[0]
	host, port, _ := strings.Cut(given(one.Args, "--http"), ":")
	if host != "0.0.0.0" {
		c.say("the worker listens on %q, where the kubelet does not come", host)
	}
	if len(one.Ports) != 1 || fmt.Sprint(one.Ports[0].ContainerPort) != port || port != c.image.port {
		c.say("the worker listens on %s, the image says %s, the pod %+v", port, c.image.port, one.Ports)
	}
	for name, probe := range map[string]*corev1.Probe{"liveness": one.LivenessProbe, "readiness": one.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || !c.isPort(probe.HTTPGet.Port, one.Ports) {
			c.say("the %s probe asks no port of the worker", name)
		}
	}
	plan := ""
	for _, env := range one.Env {
		if env.Name == "ONEROW_PLAN" {
			plan = env.Value
		}
	}
	if !slices.ContainsFunc(one.VolumeMounts, func(m corev1.VolumeMount) bool {
		return m.MountPath == path.Dir(plan) && slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name && v.ConfigMap != nil })
	}) {
		c.say("the plan %s is in no volume", plan)
	}
	const unit = "deploy/cascade-worker.service"
	if limit := one.Resources.Limits.Memory().Value() >> 20; !strings.Contains(c.files[unit], fmt.Sprintf("\nMemoryMax=%dM\n", limit)) {
		c.say("the memory limit of %d MiB is not that of %s", limit, unit)
	}
	if grace := pod.TerminationGracePeriodSeconds; grace == nil || *grace != int64(stopTime.Seconds()) {
		c.say("the worker does not get %s to end", stopTime)
	}
}

func (c *cluster) isPort(asked intstr.IntOrString, ports []corev1.ContainerPort) bool {
	return slices.ContainsFunc(ports, func(p corev1.ContainerPort) bool {
		return asked.StrVal == p.Name && p.Name != "" || asked.StrVal == "" && asked.IntVal == p.ContainerPort
	})
}

// TestKubernetes: each object is of its type, with least rights, and says of the program what is so.
func TestKubernetes(t *testing.T) {
	reads := composeReads(t)["deploy/Dockerfile"]
	wantFound(t, readTree(t), func(files tree) []string { return checkCluster(files, reads) }, clusterMistakes...)
}
