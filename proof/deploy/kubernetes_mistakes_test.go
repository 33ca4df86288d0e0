package deploy

const (
	workerPath  = "deploy/kubernetes/worker.yaml"
	migratePath = "deploy/kubernetes/migrate.yaml"
)

// clusterMistakes are planted in the files of Kubernetes.
var clusterMistakes = []planted{
	{workerPath, "readOnlyRootFilesystem", "readOnlyRootFileSystem", "readOnlyRootFileSystem"},
	{workerPath, "apiVersion: apps/v1", "apiVersion: apps/v1beta1", "apps/v1beta1 Deployment is unknown"},
	{workerPath, "replicas: 2", "replicas: two", "replicas"},
	{workerPath, "runAsNonRoot: true", "runAsNonRoot: false", "runAsNonRoot is not true"},
	{workerPath, "runAsUser: 65532", "runAsUser: 65533", "does not run as the image's user"},
	{workerPath, "seccompProfile: {type: RuntimeDefault}", "seccompProfile: {type: Unconfined}", "not RuntimeDefault"},
	{workerPath, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "readOnlyRootFilesystem is not true"},
	{workerPath, "capabilities: {drop: [ALL]}", "capabilities: {drop: [ALL], add: [NET_RAW]}", "it has capabilities"},
	{workerPath, "allowPrivilegeEscalation: false", "privileged: true", "says otherwise"},
	{workerPath, "automountServiceAccountToken: false", "hostNetwork: true", "shares the host's"},
	{workerPath, "image: cascade-worker:v0.1.0", "image: cascade-worker:latest", "with a version"},
	{workerPath, "image: cascade-worker:v0.1.0", "image: cascade-worker:v0.2.0", "not the same image"},
	{workerPath, "name: ONEROW_HTTP_TOKEN", "name: ONEROW_TOKEN", "gets ONEROW_TOKEN, which it does not read"},
	{workerPath, "valueFrom: {secretKeyRef: {name: cascade-worker, key: dsn}}", "value: root@tcp(db)/", "ONEROW_DSN is of no secret"},
	{workerPath, "limits: {memory: 256Mi}", "limits: {memory: 32Mi}", "more is asked for than allowed"},
	{workerPath, "limits: {memory: 256Mi}", "limits: {memory: 300Mi}", "is not that of"},
	{workerPath, "matchLabels: {app.kubernetes.io/name: cascade-worker}", "matchLabels: {app: cascade-worker}", "selector of the deployment"},
	{workerPath, "maxUnavailable: 1\n  selector:\n    matchLabels: {app", "maxUnavailable: 1\n  selector:\n    matchLabels: {ap", "selector of the budget"},
	{workerPath, "maxUnavailable: 1", "maxUnavailable: 2", "does not leave a worker"},
	{workerPath, "'0.0.0.0:9090'", "':9090'", "where the kubelet does not come"},
	{workerPath, "containerPort: 9090", "containerPort: 9091", "the worker listens on 9090"},
	{workerPath, "path: /readyz, port: http", "path: /readyz, port: web", "the readiness probe asks no port"},
	{workerPath, "mountPath: /etc/cascade-worker", "mountPath: /etc/worker", "is in no volume"},
	{workerPath, "terminationGracePeriodSeconds: 5", "terminationGracePeriodSeconds: 1", "does not get 5s"},
	{migratePath, "restartPolicy: OnFailure", "restartpolicy: OnFailure", "restartpolicy"},
	{migratePath, "backoffLimit: 6", "backoffLimits: 6", "backoffLimits"},
	{migratePath, "name: ONEROW_DSN", "name: ONEROW_DNS", "gets ONEROW_DNS"},
}
